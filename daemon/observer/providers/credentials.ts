// The credentials in a provider's configuration: how they are sent, and how they stay out of every message.

/** Shorter words are left in messages: removing every `p` would protect nothing and hide what happened. */
const MIN_SECRET_CHARS = 4;
/** Path segments of this length are keys (QuickNode, Alchemy, Infura put them there), shorter ones are words. */
const MIN_PATH_KEY_CHARS = 16;

export interface Credentials {
  /** The URL without user and password; a key in its path or query stays. */
  base: URL;
  headers: Record<string, string>;
  /** Takes everything secret out of a text. */
  redact(text: string): string;
}

/** Throws Error, without naming the URL, where it is not an http(s) URL. */
export function credentialsOf(
  provider: string,
  url: string,
  { api_key, key_header = 'x-api-key' }: { api_key?: string | undefined; key_header?: string | undefined },
): Credentials {
  const base = parseUrl(provider, url);
  const headers: Record<string, string> = { accept: '*/*', 'user-agent': 'gatewayd' };
  if (api_key) headers[key_header] = api_key;
  const user = decode(base.username);
  const password = decode(base.password);
  if (user || password)
    headers.authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const secrets = secretsOf([
    api_key,
    base.username,
    base.password,
    headers.authorization?.slice('Basic '.length),
    ...base.searchParams.values(),
    ...base.pathname.split('/').filter((segment) => segment.length >= MIN_PATH_KEY_CHARS),
  ]);
  base.username = '';
  base.password = '';
  base.hash = '';
  const redact = (text: string) => secrets.reduce((clean, secret) => clean.replaceAll(secret, '***'), text);
  return { base, headers, redact };
}

/** Every spelling of the secrets, longest first so that none is left as a part of another. */
function secretsOf(values: (string | undefined)[]): string[] {
  const spellings = values.flatMap((value) =>
    value ? [value, decode(value), encodeURIComponent(decode(value))] : [],
  );
  return [...new Set(spellings)]
    .filter((secret) => secret.length >= MIN_SECRET_CHARS)
    .sort((a, b) => b.length - a.length);
}

/** `new URL` names the whole input in its error, password included. */
function parseUrl(provider: string, url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol))
    throw new Error(`the URL of provider ${provider} is not an http(s) URL`);
  return parsed;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A bare `%` in a password.
  }
}
