// MCP over streamable HTTP at /mcp: the caller's own key or token, tools through the very checks of a request.
import type { Logger } from 'pino';
import type { Prepared, RequestInfo } from '../http/exchange.ts';
import { MAX_BODY_BYTES } from '../http/request.ts';
import { rest } from '../process/rest.ts';
import type { Config } from '../settings/config.ts';
import { cacheLists, passed } from './mcp-lists.ts';

/** Streams of clients that wait for a change of tools, which never comes. */
const MAX_SUBSCRIPTIONS = 64;
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** What one request brings along to the server made for it. */
export interface McpCaller {
  include_hidden: boolean;
  request: RequestInfo;
}

type Sdk = typeof import('@modelcontextprotocol/server');
type Serve = (caller: McpCaller) => Promise<Prepared>;

export interface Mcp {
  /** Refuses a host or an origin that is not this daemon's. */
  answer(caller: McpCaller): Promise<Prepared>;
}

type McpOptions = { config: Pick<Config, 'public_url' | 'host'>; log: Logger };

export function openMcp(options: McpOptions): Mcp {
  let loaded: Promise<{ sdk: Sdk; serve: Serve }> | undefined;
  return {
    async answer(caller) {
      // The library is loaded by the first call: most daemons start without an MCP client.
      loaded ??= load(options);
      const { sdk, serve } = await loaded;
      const { web } = caller.request;
      const names = allowedNames(options.config);
      const refused = refusedHost(sdk, web, names) ?? sdk.originValidationResponse(web, names);
      return refused ? passed(refused) : serve(caller);
    },
  };
}

async function load({ config, log }: McpOptions): Promise<{ sdk: Sdk; serve: Serve }> {
  const [sdk, { createToolServer }] = await Promise.all([rest.mcp(), rest.tools()]);
  const handler = sdk.createMcpHandler(
    ({ authInfo }) => {
      if (!authInfo) throw new Error('the request of an MCP call was not handed on');
      const { include_hidden, request } = authInfo.extra as unknown as McpCaller;
      return createToolServer({
        base_url: config.public_url,
        ...credentialsOf(request.headers),
        include_hidden,
        send: (each) => request.dispatch(each),
      });
    },
    {
      maxRequestBodySize: MAX_BODY_BYTES,
      maxSubscriptions: MAX_SUBSCRIPTIONS,
      onerror: (error) => log.debug({ err: error }, 'mcp'),
    },
  );
  const answer = cacheLists();
  const serve: Serve = (caller) =>
    answer({
      web: caller.request.web,
      include_hidden: caller.include_hidden,
      ask: (web) =>
        handler.fetch(web, {
          // Passed through untouched: the tools check the credentials, each for itself.
          authInfo: { token: '', clientId: '', scopes: [], extra: { ...caller } },
        }),
    });
  return { sdk, serve };
}

/** Clients that can send one header only may send a key as the bearer token. */
function credentialsOf(headers: Headers): { api_key?: string; token?: string } {
  const bearer = /^bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1];
  const isKey = bearer?.startsWith('gw_') === true;
  const api_key = headers.get('x-api-key') ?? (isKey ? bearer : undefined);
  return { ...(api_key ? { api_key } : {}), ...(bearer && !isKey ? { token: bearer } : {}) };
}

/** Names under which this daemon may be called; a page of another origin must not reach it through the reader's browser. */
function allowedNames({ public_url, host }: McpOptions['config']): string[] {
  const own = new URL(public_url).hostname;
  const loopback = LOOPBACK.includes(own) || LOOPBACK.includes(host) || host === '::1';
  return [...new Set([own, ...(loopback ? LOOPBACK : [])])];
}

/** A request without Host came from this very process. */
const refusedHost = (sdk: Sdk, web: Request, names: string[]): Response | undefined =>
  web.headers.has('host') ? sdk.hostHeaderValidationResponse(web, names) : undefined;
