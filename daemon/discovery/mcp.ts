// MCP over streamable HTTP at /mcp: the caller's own key or token, tools through the very checks of a request.
import { endpoint, media } from '../../src/api/describe/endpoint.ts';
import { bool } from '../../src/api/describe/fields.ts';
import type { App } from '../context.ts';
import { type Handlers, Prepared, type RequestInfo } from '../http/handler.ts';
import { MAX_BODY_BYTES } from '../http/request.ts';

/** Streams of clients that wait for a change of tools, which never comes. */
const MAX_SUBSCRIPTIONS = 64;
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** Not in the list of endpoints: another protocol. */
export const mcpEndpoint = endpoint({
  id: 'mcp',
  method: 'POST',
  path: '/mcp',
  auth: 'none',
  tag: 'discovery',
  summary: 'Speak MCP',
  description: 'Streamable HTTP, stateless: the revision of 2026-07-28 and those before it.',
  query: { include_hidden: bool().default(false) },
  response: media('application/json'),
});

/** What one request brings along to the server made for it. */
interface Caller {
  include_hidden: boolean;
  request: RequestInfo;
}

type Sdk = typeof import('@modelcontextprotocol/server');
type Serve = (caller: Caller) => Promise<Response>;

const serving = new WeakMap<App, Promise<{ sdk: Sdk; serve: Serve }>>();

/** The library is loaded by the first call: most daemons start without an MCP client. */
function servingOf(app: App): Promise<{ sdk: Sdk; serve: Serve }> {
  const known = serving.get(app);
  if (known !== undefined) return known;
  const made = open(app);
  serving.set(app, made);
  return made;
}

async function open(app: App): Promise<{ sdk: Sdk; serve: Serve }> {
  const [sdk, { createToolServer }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('../../src/mcp.ts'),
  ]);
  const handler = sdk.createMcpHandler(
    ({ authInfo }) => {
      if (!authInfo) throw new Error('the request of an MCP call was not handed on');
      const { include_hidden, request } = authInfo.extra as unknown as Caller;
      return createToolServer({
        base_url: app.config.public_url,
        ...credentialsOf(request.headers),
        include_hidden,
        send: (each) => request.dispatch(each),
      });
    },
    {
      maxRequestBodySize: MAX_BODY_BYTES,
      maxSubscriptions: MAX_SUBSCRIPTIONS,
      onerror: (error) => app.log.debug({ err: error }, 'mcp'),
    },
  );
  const serve: Serve = (caller) =>
    handler.fetch(caller.request.web, {
      // Passed through untouched: the tools check the credentials, each for itself.
      authInfo: { token: '', clientId: '', scopes: [], extra: { ...caller } },
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
function allowedNames({ public_url, host }: App['config']): string[] {
  const own = new URL(public_url).hostname;
  const loopback = LOOPBACK.includes(own) || LOOPBACK.includes(host) || host === '::1';
  return [...new Set([own, ...(loopback ? LOOPBACK : [])])];
}

export const mcp: Handlers<readonly [typeof mcpEndpoint]> = {
  async mcp({ query: { include_hidden } }, { app, request }) {
    const { sdk, serve } = await servingOf(app);
    const names = allowedNames(app.config);
    const { web } = request;
    const response =
      refusedHost(sdk, web, names) ??
      sdk.originValidationResponse(web, names) ??
      (await serve({ include_hidden, request }));
    return new Prepared({
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: response.body,
    });
  },
};

/** A request without Host came from this very process. */
const refusedHost = (sdk: Sdk, web: Request, names: string[]): Response | undefined =>
  web.headers.has('host') ? sdk.hostHeaderValidationResponse(web, names) : undefined;
