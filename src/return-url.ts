// Where a buyer may return to from a checkout page: which addresses, on which hosts.

export const MAX_RETURN_URL = 2048;
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;

/** Which addresses may be linked to. */
export interface LinkRules {
  /** Whether `http` to this machine is allowed: where no real money moves. */
  loopback: boolean;
}

/** An address of a web page as it may stand in a link, or why it may not. */
export function webAddress(text: string, { loopback }: LinkRules): URL | string {
  if (text.length > MAX_RETURN_URL) return `it is longer than ${MAX_RETURN_URL} characters`;
  if (!URL.canParse(text)) return 'it is not a complete URL';
  const url = new URL(text);
  const plain = loopback && url.protocol === 'http:' && LOOPBACK.test(url.hostname);
  if (url.protocol !== 'https:' && !plain)
    return loopback ? 'only https is allowed, and http to this machine' : 'only https is allowed';
  if (url.username !== '' || url.password !== '') return 'it holds a user name or a password';
  if (url.href.length > MAX_RETURN_URL) return `it is longer than ${MAX_RETURN_URL} characters`;
  return url;
}

/** A host as it is compared, `shop.example` or `shop.example:8443`; null for what is none. */
export function hostEntry(text: string): string | null {
  const address = `https://${text}/`;
  if (/[\s/\\?#@*]/.test(text) || !URL.canParse(address)) return null;
  const url = new URL(address);
  return url.host === '' || url.pathname !== '/' ? null : url.host;
}

/** The address in its normal form if its host is one of these, or why a buyer may not be led there. */
export function returnAddress(
  text: string,
  { hosts, ...rules }: LinkRules & { hosts: readonly string[] },
): { href: string; host: string } | string {
  const url = webAddress(text, rules);
  if (typeof url === 'string') return url;
  if (!hosts.includes(url.host)) return `its host ${url.host} is not one of return_hosts`;
  return { href: url.href, host: url.host };
}
