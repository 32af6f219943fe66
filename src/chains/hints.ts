// What hints of several families have in common: where they are, and what is in a message of JSON-RPC.
const SECURE = 'https:';

/**
 * The same URL over a WebSocket, where it is a public host's; a node of one's own has another port for it, which only the
 * settings know.
 */
export function sameHost(provider_url: URL): string | null {
  if (provider_url.protocol !== SECURE || provider_url.port !== '') return null;
  const url = new URL(provider_url);
  url.protocol = 'wss:';
  return url.href;
}

/** Whether a host is one of these, or below one. */
export const isAt = ({ hostname }: URL, hosts: readonly string[]): boolean =>
  hosts.some((host) => hostname === host || hostname.endsWith(`.${host}`));

/** A member of what may be anything. */
export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
