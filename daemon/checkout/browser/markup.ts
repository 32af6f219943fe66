// Markup from the daemon as a document, under the strictest policy that a page may have.

interface Policy {
  createHTML(text: string): string;
}

/** Trusted Types, which not every browser has. */
declare const trustedTypes: { createPolicy(name: string, rules: Policy): Policy } | undefined;

/** Several scripts of this service may run in one page, which may allow a policy's name once. */
const shared = document as unknown as Record<symbol, Policy | undefined>;
const key = Symbol.for('gatewayd');

function policyOfPage(): Policy | undefined {
  if (typeof trustedTypes === 'undefined') return undefined;
  try {
    shared[key] = shared[key] || trustedTypes.createPolicy('gatewayd', { createHTML: (text) => text });
  } catch {
    // The page allows no policy of ours; it may still let plain text through.
  }
  return shared[key];
}

const policy = policyOfPage();

/** The checkout in markup, null without one, and its styles, which a strict policy would refuse as elements. */
export function readMarkup(markup: string): { root: HTMLElement | null; css: string } {
  let css = '';
  const text = markup.replace(/<style>(.*?)<\/style>/gs, (_, sheet: string) => {
    css += sheet;
    return '';
  });
  const parsed = new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, 'text/html');
  return { root: parsed.querySelector<HTMLElement>('.gw'), css };
}
