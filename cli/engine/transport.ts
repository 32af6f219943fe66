// How calls leave gw: a redirect is refused, so that credentials and bodies reach no one but the service that was named.
import { GwError } from './errors.ts';

/** 303 is an answer of its own: it names what to read next, and nothing follows it. */
const REDIRECTS = new Set([301, 302, 307, 308]);

/**
 * Like fetch, to the service. Throws GwError where it answers with a redirect: nothing was sent to its target.
 * Headers and body would go wherever it points.
 */
export const fetchService: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: 'manual' });
  if (!REDIRECTS.has(response.status)) return response;
  await response.body?.cancel();
  const asked = new URL(input instanceof Request ? input.url : input);
  const target = targetOf(response.headers.get('location'), asked);
  const isSamePath = target !== null && target.pathname === asked.pathname;
  const where = target ? `${target.origin}${isSamePath ? '' : target.pathname}` : 'an address that is none';
  throw new GwError('config', `${asked.origin} redirects to ${where}; nothing was sent there`, {
    code: 'redirected',
    status: response.status,
    hint:
      target && isSamePath
        ? `if that is the service: gw config set url ${target.origin}, or --url ${target.origin}`
        : 'check that this is the address of a gatewayd: gw doctor',
  });
};

function targetOf(location: string | null, asked: URL): URL | null {
  return location !== null && URL.canParse(location, asked.href) ? new URL(location, asked.href) : null;
}

const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Whether what is sent there leaves this machine readable for all on the way. */
export const isPlain = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && !LOOPBACK.test(hostname);
