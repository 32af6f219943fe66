// Where the script that is running was loaded from.

/** The address of the deployment, without a slash at its end. */
export const baseOfScript = (): string =>
  (document.currentScript as HTMLScriptElement).src.replace(/\/docs\/[^/]+$/, '');
