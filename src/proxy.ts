// The way out through a proxy: which requests take it, by the conventions of HTTPS_PROXY, HTTP_PROXY and NO_PROXY.

export interface Proxies {
  /** URLs of the proxies for `http:` and `https:` (WebSockets too), with their credentials; null: directly. */
  http: string | null;
  https: string | null;
  /** Hosts that are asked directly: names with all below them, `host:port`, addresses, IPv4 networks, `*`. */
  except: readonly string[];
  /** What named them: the setting, or variables. */
  from: string;
}

/** `proxy` says: none, and whatever variables say. */
export const DIRECTLY = 'none';
const PROXY = /^https?:\/\/[^/]+\/?$/i;

/** Whether a text is the URL of a proxy that can be used. */
export const isProxy = (text: string): boolean => PROXY.test(text) && URL.canParse(text);

type Environment = Readonly<Record<string, string | undefined>>;

const VARIABLES = { https: ['https_proxy', 'HTTPS_PROXY'], http: ['http_proxy', 'HTTP_PROXY'] } as const;

const given = (env: Environment, names: readonly string[]): [name: string, text: string] | null => {
  const name = names.find((each) => env[each]?.trim());
  return name === undefined ? null : [name, env[name]?.trim() ?? ''];
};

/** What the variables say. `fault` hears of one that is no proxy. */
export function proxiesIn(env: Environment, fault: (variable: string) => void): Proxies {
  const found = { https: given(env, VARIABLES.https), http: given(env, VARIABLES.http) };
  for (const each of Object.values(found)) if (each !== null && !isProxy(each[1])) fault(each[0]);
  return {
    http: found.http?.[1] ?? null,
    https: found.https?.[1] ?? null,
    except: listed(given(env, ['no_proxy', 'NO_PROXY'])?.[1] ?? ''),
    from: [found.https?.[0], found.http?.[0]].filter((name) => name !== undefined).join(', '),
  };
}

export const listed = (text: string): string[] => text.split(/[\s,]+/).filter((each) => each !== '');

/** The proxy for a request; null where it goes directly, as what is on this machine always does. */
export function proxyFor({ http, https, except }: Proxies, url: URL): URL | null {
  const isSecure = url.protocol === 'https:' || url.protocol === 'wss:';
  const proxy = isSecure ? https : http;
  if (proxy === null) return null;
  const host = url.hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  const port = url.port || (isSecure ? '443' : '80');
  const isLocal = /^(?:.+\.)?localhost$|^127\.|^::1$/.test(host);
  return isLocal || except.some((entry) => matches(entry.toLowerCase(), host, port)) ? null : new URL(proxy);
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  const [network, bits] = entry.split('/', 2);
  if (bits !== undefined) return isWithin(network ?? '', Number(bits), host);
  const [, name = entry, wanted] = /^(.*[^:]):(\d+)$/.exec(entry) ?? [];
  if (wanted !== undefined && !name.endsWith(']') && name.includes(':')) return entry === host;
  if (wanted !== undefined && wanted !== port) return false;
  const plain = name.replace(/^\[|\]$/g, '').replace(/^\*?\./, '');
  return host === plain || host.endsWith(`.${plain}`);
}

const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;
const numberOf = (address: string): number =>
  address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);

function isWithin(network: string, bits: number, host: string): boolean {
  if (!IPV4.test(network) || !IPV4.test(host) || !(bits >= 0 && bits <= 32)) return false;
  const size = 2 ** (32 - bits);
  return Math.floor(numberOf(network) / size) === Math.floor(numberOf(host) / size);
}

/** What a proxy is sent to let the request through; nothing where its URL has no credentials. */
export function credentialsFor({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const bytes = String.fromCharCode(...new TextEncoder().encode(text));
  return { 'proxy-authorization': `Basic ${btoa(bytes)}` };
}

/** The target of a CONNECT. */
export const authorityOf = (url: URL): string =>
  `${url.hostname}:${url.port || (/^(https|wss):$/.test(url.protocol) ? 443 : 80)}`;

/** A proxy without its credentials, as people are shown it. */
export const shownProxy = (proxy: string): string => new URL(proxy).origin;
