// The MCP server: lists the tools and passes each call on as a request; the same over HTTP and stdio.
import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import { requestOf } from './api/client/call.ts';
import type { Endpoint } from './api/describe/endpoint.ts';
import { findEndpoint } from './api/endpoints/api.ts';
import { API_VERSION } from './api/project/openapi.ts';
import {
  inputOf,
  isEndless,
  resultOf,
  type ToolAnswer,
  type ToolResult,
  toolsOf,
} from './api/project/tools.ts';

/** The list changes only with the version. */
const LIST_TTL_MS = 3_600_000;
/** How much of an endless stream a tool answers. */
const MAX_STREAM_BYTES = 64 * 1024;

export interface ToolServerOptions {
  base_url: string;
  api_key?: string | undefined;
  token?: string | undefined;
  include_hidden: boolean;
  send(request: Request): Promise<Response>;
}

const instructions = (base_url: string): string =>
  `A crypto payment gateway at ${base_url}. To sell: setMerchantWallet once, then createInvoice and send the buyer to pay_url; getInvoice tells when it is confirmed. On testnet in demo mode simulateInvoice stands for the buyer. searchCatalog finds the tool for an intent, getCatalog with kind=flow has whole tasks. A refusal carries code, hint and next. Credentials are no arguments of tools: over HTTP this client sends them as headers, the merchant key as X-API-Key and the access token as Authorization: Bearer; on stdio they are those of gw login, or GW_API_KEY and GW_TOKEN. Without one: signup (getPublicConfig says who may), loginAccessToken, then let the token be set there.`;

/** One server for one connection or request, with the credentials of its caller. */
export function createToolServer(options: ToolServerOptions): Server {
  const cache = { ttlMs: LIST_TTL_MS, cacheScope: 'public' } as const;
  const server = new Server(
    { name: 'gatewayd', title: 'gatewayd', version: API_VERSION },
    {
      capabilities: { tools: {} },
      instructions: instructions(options.base_url),
      cacheHints: { 'tools/list': cache, 'server/discover': cache },
    },
  );
  server.setRequestHandler('tools/list', () => ({ tools: toolsOf(options) }));
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
    const endpoint: Endpoint | undefined = findEndpoint(params.name);
    if (!endpoint) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
    return callTool(endpoint, params.arguments ?? {}, options, mcpReq.signal);
  });
  return server;
}

async function callTool(
  endpoint: Endpoint,
  args: Record<string, unknown>,
  options: ToolServerOptions,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { input, idempotency_key } = inputOf(endpoint, args);
  let wire: ReturnType<typeof requestOf>;
  try {
    wire = requestOf(options, endpoint, input, { idempotency_key });
  } catch (error) {
    // A value is missing, or is none that can be sent; nested too deep to be written, it is a RangeError.
    const text = error instanceof TypeError ? error.message : 'The arguments are nested too deep to be sent';
    return { content: [{ type: 'text', text }], isError: true };
  }
  const { url, method, headers, body } = wire;
  const request = new Request(url, {
    method,
    headers,
    redirect: 'manual',
    signal,
    ...(body === undefined ? {} : { body }),
  });
  const response = await options.send(request);
  return resultOf(endpoint, {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    bytes: await (isEndless(endpoint) ? firstEvent(response) : bytesOf(response)),
    location: response.headers.get('location'),
  } satisfies ToolAnswer);
}

const bytesOf = async (response: Response): Promise<Uint8Array> =>
  new Uint8Array(await response.arrayBuffer());

/** What a stream says first; it is then left. */
async function firstEvent(response: Response): Promise<Uint8Array> {
  const reader = response.body?.getReader();
  if (!reader) return new Uint8Array();
  const decoder = new TextDecoder();
  let text = '';
  while (!/\n\n/.test(text) && text.length < MAX_STREAM_BYTES) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return new TextEncoder().encode(text);
}
