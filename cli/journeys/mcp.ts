// `gw mcp`: every endpoint as an MCP tool on stdio, with the credentials of the profile.
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { getMerchantAccount } from '../../src/api/endpoints/merchant.ts';
import type { Command, Context } from '../engine/command.ts';
import { GwError, NetworkError } from '../engine/errors.ts';
import { timeoutAfter } from '../engine/timeout.ts';
import { limited, openService } from '../engine/transport.ts';

export const command: Command = {
  endpoints: [],
  flags: [
    {
      field: 'include_hidden',
      name: 'include-hidden',
      place: 'own',
      kind: 'boolean',
      help: 'list the operator’s tools too',
    },
  ],
  about:
    'Speaks the Model Context Protocol on stdin and stdout until stdin ends. Tools are named by operationId; calls are made with the key and the token of the settings.',
  examples: ['gw mcp', 'GW_API_KEY=gw_… gw mcp', 'gw mcp --include-hidden --profile operator'],
  async run(context) {
    const { own } = await context.input();
    const { signal, timeout_ms, io } = context;
    const settings = await context.settings();
    const base_url = settings.url;
    const token = settings.credential('token');
    const api_key = settings.credential('api_key') ?? (token ? await keyOf(context) : undefined);
    const [{ serveStdio }, { createToolServer }] = await Promise.all([
      import('@modelcontextprotocol/server/stdio'),
      import('../../src/mcp.ts'),
    ]);
    const handle = serveStdio(() =>
      createToolServer({
        base_url,
        api_key,
        token,
        include_hidden: own.include_hidden === true,
        send: (request) => send(request, base_url, timeout_ms),
      }),
    );
    // A file or /dev/null ends without being closed.
    await Promise.race(['end', 'close'].map((name) => once(io.stdin, name, { signal }))).catch(() => {});
    await handle.close();
  },
};

/** A Response of these takes none. */
const BODYLESS = new Set([204, 205, 304]);

/** Answers what the service answers; where nothing does, the refusal that says so. */
async function send(request: Request, base_url: string, timeout_ms: number): Promise<Response> {
  try {
    const { status, fields, body } = await openService(request.url, {
      method: request.method,
      headers: Object.fromEntries(request.headers),
      ...(request.body ? { body: await request.text() } : {}),
      signal: AbortSignal.any([request.signal, timeoutAfter(timeout_ms)]),
    });
    const headers = Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]);
    const stream = Readable.toWeb(
      Readable.from(limited(body, base_url), { objectMode: false }),
    ) as ReadableStream<Uint8Array>;
    return new Response(BODYLESS.has(status) ? await stream.cancel().then(() => null) : stream, {
      status,
      headers,
    });
  } catch (error) {
    if (error instanceof GwError) {
      const { code, hint } = error.details;
      return Response.json({ detail: error.message, code, hint }, { status: 502 });
    }
    const timedOut = (error as Error).name === 'TimeoutError';
    if (!timedOut && !(error instanceof NetworkError)) throw error;
    return Response.json(
      {
        detail: timedOut ? `${base_url} did not answer in time` : `${base_url} cannot be reached`,
        code: 'unreachable',
        hint: 'Start the daemon with gatewayd start, or give another address with --url or GW_URL',
      },
      { status: 503 },
    );
  }
}

/** The account shows the key to the user who is signed in; without an answer, tools that need a key are refused. */
const keyOf = async ({ call }: Context): Promise<string | undefined> =>
  (await call(getMerchantAccount).catch(() => undefined))?.api_key;
