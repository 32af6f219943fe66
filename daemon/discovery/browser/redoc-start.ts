// Starts ReDoc with the description of where the page was loaded from.
import { baseOfScript } from './base.ts';

declare const Redoc: {
  init(specification: string, options: Record<string, unknown>, root: HTMLElement | null): void;
};

Redoc.init(
  `${baseOfScript()}/api/v1/openapi.json`,
  { nativeScrollbars: true },
  document.getElementById('redoc'),
);
