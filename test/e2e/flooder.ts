// A stranger, or one merchant, who takes all he can get from one address: a process of its own, that runs until it is killed.
import { connect, type Socket } from 'node:net';
import { setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';

/** What a flood is given. */
export interface Flood {
  kind: FloodKind;
  url: string;
  /** From where it comes. */
  address: string;
  invoice_id: string;
  unit_id: string;
  operator: string;
  /** The one merchant. */
  token: string;
  key: string;
}

/** Requests under way at once, each on a connection of its own. */
const AT_ONCE = 100;
/** In one piece on one connection. */
const PIPELINED = 2_000;
const MAX_STREAMS = 3_000;
const MAX_SLOW = 3_000;
/** Just below what a body may have, so that all of it is held. */
const HELD_BYTES = 200_000;
/** Below what a line may have. */
const LONG = 'x'.repeat(12_000);
/** A stranger has a machine of his own: this one gets what daemon and merchants leave, but not nothing. */
const LOW_PRIORITY = 5;
/** It has begun once so many answers or connections were had. */
const BEGUN = 20;
let had = 0;

/** Notes that something was had. */
function note(): void {
  if (++had === BEGUN) process.stdout.write('begun\n');
}

interface Asked {
  method: 'GET' | 'POST' | 'PATCH';
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const draw = (below: number): number => Math.floor(Math.random() * below);
const oneOf = <T>(list: readonly T[]): T => list[draw(list.length)] as T;

/** Requests as fast as they are answered, whatever the answer is. */
const requests =
  (ask: (flood: Flood) => Asked) =>
  async (flood: Flood): Promise<void> => {
    const pool = new Pool(flood.url, { connections: AT_ONCE, localAddress: flood.address });
    const client = async () => {
      for (;;) {
        try {
          const { body } = await pool.request(ask(flood));
          await body.dump();
          note();
        } catch {
          await delay(10); // A connection that is refused is tried again.
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, client));
  };

function dial({ url, address }: Flood): Socket {
  const { hostname: host, port } = new URL(url);
  const socket = connect({ host, port: Number(port), localAddress: address });
  return socket.on('error', () => socket.destroy()).resume();
}

const head = (flood: Flood, first: string, ...lines: string[]): string =>
  [`${first} HTTP/1.1`, `host: ${new URL(flood.url).host}`, ...lines, '', ''].join('\r\n');

/** Connections that are opened again when they end; `begin` says what each of them does. */
async function connections(flood: Flood, most: number, begin: (socket: Socket) => void): Promise<void> {
  let open = 0;
  for (;;) {
    for (let each = 0; each < 100 && open < most; each++) {
      open++;
      const socket = dial(flood).once('connect', () => {
        note();
        begin(socket);
      });
      socket.once('close', () => open--);
    }
    await delay(20);
  }
}

const mcp = (name: string, args: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });

const floods = {
  codes: requests(({ invoice_id }) => ({ method: 'GET', path: `/v1/pay/${invoice_id}/qr.png` })),

  pages: requests(({ invoice_id, unit_id }) => {
    const accent = draw(0x1_00_00_00).toString(16).padStart(6, '0');
    const look = `accent=${accent}&radius=${draw(25)}`;
    const path = oneOf([
      `/v1/pay/${invoice_id}/page?width=${180 + draw(1_000)}&${look}`,
      `/v1/units/${unit_id}/page?${look}`,
      `/v1/pay/${invoice_id}/div?${look}`,
    ]);
    return { method: 'GET', path };
  }),

  /** One connection that asks for thousands of things before it reads an answer. */
  pipelined: (flood) =>
    connections(flood, 1, (socket) => {
      const write = () => {
        let text = '';
        for (let each = 0; each < PIPELINED; each++) {
          const accent = draw(0x1_00_00_00).toString(16).padStart(6, '0');
          text += head(flood, `GET /v1/pay/${flood.invoice_id}/page?accent=${accent}`);
        }
        socket.write(text, () => setTimeout(write, 50));
      };
      write();
      socket.on('data', note);
    }),

  streams: (flood) =>
    connections(flood, MAX_STREAMS, (socket) => {
      socket.write(head(flood, `GET /v1/pay/${flood.invoice_id}/events`, 'accept: text/event-stream'));
      // Half of them come and go.
      if (draw(2) === 0) setTimeout(() => socket.destroy(), draw(1_000));
    }),

  sign_in: requests(({ operator }) => {
    const username = oneOf([operator, `stranger${draw(1_000)}@example.com`]);
    const body = new URLSearchParams({ username, password: `wrong ${draw(1e9)}` }).toString();
    return { method: 'POST', path: '/api/v1/login/access-token', headers: form, body };
  }),

  passwords: requests(({ token }) => ({
    method: 'PATCH',
    path: '/api/v1/users/me/password',
    headers: { ...json, authorization: `Bearer ${token}` },
    body: JSON.stringify({ current_password: `wrong ${draw(1e9)}`, new_password: `another ${draw(1e9)}` }),
  })),

  purchases: requests(({ unit_id }) => ({
    method: 'POST',
    path: `/v1/units/${unit_id}/checkout`,
    headers: json,
    body: JSON.stringify({ chain: 'ton', external_ref: `${draw(1e9)}` }),
  })),

  /** Headers and bodies that never end, and connections that say nothing. */
  slow: (flood) =>
    connections(flood, MAX_SLOW, (socket) => {
      const what = draw(3);
      if (what === 0) socket.write(`GET /health HTTP/1.1\r\nx-slow: ${draw(1e9)}`);
      if (what !== 1) return;
      const sized = ['content-type: application/json', 'content-length: 250000'];
      socket.write(head(flood, 'POST /v1/invoices', ...sized) + ' '.repeat(HELD_BYTES));
    }),

  documents: requests(() => {
    const query = encodeURIComponent(`${draw(1e9).toString(36)} payment ${draw(1e9).toString(36)} webhook`);
    const gets = [
      `/v1/search?limit=50&q=${query}`,
      '/v1/catalog?include_docs=true',
      '/api/v1/openapi.json',
      '/llms-full.txt',
      `/${LONG}`,
      `/v1/gateways/${draw(1e9)}`,
      `/v1/search?q=${LONG}`,
    ];
    if (draw(gets.length + 1) > 0) return { method: 'GET', path: oneOf(gets) };
    const body = mcp('search', { q: `webhook ${draw(1e9)}` });
    const headers = { ...json, accept: 'application/json, text/event-stream' };
    return { method: 'POST', path: '/mcp', headers, body };
  }),

  /** What a merchant may do, all at once. */
  merchant: requests(({ key, token, invoice_id }) => {
    const keyed = { ...json, 'x-api-key': key };
    const signed = { authorization: `Bearer ${token}` };
    return oneOf<Asked>([
      { method: 'POST', path: '/v1/invoices', headers: keyed, body: '{"chain":"ton","amount":"1"}' },
      { method: 'POST', path: `/v1/invoices/${invoice_id}/check`, headers: keyed },
      { method: 'GET', path: '/v1/invoices?limit=200', headers: keyed },
      { method: 'GET', path: '/api/v1/merchant/export?table=invoices&limit=500', headers: signed },
      { method: 'GET', path: '/v1/figures', headers: keyed },
      { method: 'GET', path: `/v1/explain?q=${invoice_id}`, headers: keyed },
    ]);
  }),
} as const satisfies Record<string, (flood: Flood) => Promise<void>>;

export type FloodKind = keyof typeof floods;
export const floodKinds = Object.keys(floods) as FloodKind[];

const [given] = process.argv.slice(2);
if (given !== undefined && process.argv[1]?.endsWith('flooder.ts')) {
  setPriority(LOW_PRIORITY);
  process.once('SIGTERM', () => {
    process.stdout.write(`${had}\n`, () => process.exit(0));
  });
  const flood = JSON.parse(given) as Flood;
  await floods[flood.kind](flood);
}
