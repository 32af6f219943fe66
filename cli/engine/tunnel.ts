// The way of `gw` through a proxy, where HTTPS_PROXY or HTTP_PROXY names one and NO_PROXY does not except the service.
import type { Agent, IncomingMessage, RequestOptions } from 'node:http';
import type { Socket } from 'node:net';
import { authorityOf, credentialsFor, proxiesIn, proxyFor, shownProxy } from '../../src/proxy.ts';
import { GwError } from './errors.ts';

const moduleOf = (protocol: string) => (protocol === 'https:' ? import('node:https') : import('node:http'));

/** The proxy for a request; null where it goes directly. Throws GwError for a variable that names none. */
export const proxyOf = (url: URL): URL | null => {
  const proxies = proxiesIn(process.env, (name) => {
    throw new GwError('config', `${name} must be http://… or https://…`, {
      hint: `correct ${name}, or unset it`,
    });
  });
  return proxyFor(proxies, url);
};

/** What a request to a service without TLS is sent with: the whole address, to the proxy. */
export const throughProxy = (proxy: URL, url: URL, headers: Record<string, string>): RequestOptions => ({
  protocol: proxy.protocol,
  host: proxy.hostname,
  port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
  path: `${url.origin}${url.pathname}${url.search}`,
  headers: { ...headers, host: url.host, ...credentialsFor(proxy) },
});

/** For a request with TLS: one connection through the proxy's tunnel. Rejects with what the proxy says, without its credentials. */
export async function tunnelTo(url: URL, proxy: URL, wait_ms: number): Promise<Agent> {
  const [{ request }, { Agent }] = await Promise.all([moduleOf(proxy.protocol), import('node:https')]);
  const authority = authorityOf(url);
  const socket = await new Promise<Socket>((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`the proxy ${shownProxy(proxy.href)} ${why}`));
    const headers = { host: authority, ...credentialsFor(proxy) };
    const asking = request(proxy, { method: 'CONNECT', path: authority, headers, agent: false, auth: null });
    const timer = setTimeout(() => asking.destroy(new Error('no answer in time')), wait_ms);
    asking.once('close', () => clearTimeout(timer));
    asking.once('error', (error) => fail(`cannot be reached: ${error.message}`));
    asking.once('connect', ({ statusCode = 0 }: IncomingMessage, opened: Socket) => {
      clearTimeout(timer);
      if (statusCode >= 200 && statusCode < 300) return resolve(opened);
      opened.destroy();
      fail(`refuses (HTTP ${statusCode})`);
    });
    asking.end();
  });
  const agent = new Agent();
  const opening = agent as unknown as { createConnection(target: object): Socket };
  const { createConnection } = opening;
  opening.createConnection = (target) => createConnection.call(agent, { ...target, socket });
  return agent;
}
