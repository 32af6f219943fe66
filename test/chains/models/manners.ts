// How hosts answer who has no key, as models of them: the caps, the refusals in their own words, and the faults of each.
// Their texts and numbers are those of the recorded answers next to this.
import { type Front, json, type ModelAnswer, type ModelRequest, text } from '../../simulator/chains/front.ts';

/** Changes what a model answers. */
export type Manner = (front: Front) => Front;

export interface Host {
  name: string;
  manners: readonly Manner[];
  /** False for one that answers oddly, and all. */
  refuses?: false;
}

interface Call {
  id: number;
  method: string;
  params: readonly unknown[];
}

/** Calls of JSON-RPC; a request to anything else has none. */
const callsIn = ({ body }: ModelRequest): Call[] =>
  [JSON.parse(body ?? '[]') as Call | Call[]].flat().filter((call) => 'method' in call);
const isBatch = ({ body }: ModelRequest): boolean => body?.startsWith('[') ?? false;
const errorOf = (code: number, message: string) => ({ code, message });

/** A batch of more calls is refused: as a whole, or once for each call. */
const batchOf =
  (most: number, status: number, refused: (calls: readonly Call[]) => unknown): Manner =>
  (front) =>
  (request) => {
    const calls = callsIn(request);
    return calls.length > most ? json(refused(calls), status) : front(request);
  };

/** The same host, which takes no batch of more calls. */
export const takesCalls = (most: number, host: Host): Host =>
  Number.isFinite(most) ? { ...host, manners: [...host.manners, limitsBatches(most)] } : host;

const limitsBatches =
  (most: number): Manner =>
  (front) =>
  (request) =>
    isBatch(request) && callsIn(request).length > most
      ? json(whole(-32_600, 'batch requests of this size are not supported')(), 400)
      : front(request);

const each = (code: number, message: string) => (calls: readonly Call[]) =>
  calls.map(({ id }) => ({ jsonrpc: '2.0', id, error: errorOf(code, message) }));
const whole = (code: number, message: string) => () => ({
  jsonrpc: '2.0',
  id: null,
  error: errorOf(code, message),
});

/** Single calls are answered otherwise where `answer` says so. */
const calls =
  (answer: (call: Call) => { code: number; message: string } | undefined): Manner =>
  (front) =>
  (request) => {
    const asked = callsIn(request);
    if (!asked.some((call) => answer(call))) return front(request);
    const answers = asked.map((call): unknown => {
      const error = answer(call);
      if (error) return { jsonrpc: '2.0', id: call.id, error };
      return JSON.parse(String(front({ ...request, body: JSON.stringify(call) }).body));
    });
    return json(isBatch(request) ? answers : answers[0]);
  };

/** Filters of logs over more blocks are refused. */
const logsOver = (blocks: number, code: number, message: (from: number) => string): Manner =>
  calls(({ method, params: [filter] }) => {
    const { fromBlock, toBlock } = (filter ?? {}) as { fromBlock?: string; toBlock?: string };
    if (method !== 'eth_getLogs' || !fromBlock || !toBlock) return undefined;
    const from = Number(fromBlock);
    return Number(toBlock) - from + 1 > blocks ? errorOf(code, message(from)) : undefined;
  });

/** Of every so many-th batch only the first calls are answered. */
const answersPart =
  (nth: number, first: number): Manner =>
  (front) => {
    let batches = 0;
    return (request) => {
      const asked = callsIn(request);
      if (asked.length <= first || ++batches % nth !== 0) return front(request);
      const answers = asked.map((call, at): unknown =>
        at < first
          ? JSON.parse(String(front({ ...request, body: JSON.stringify(call) }).body))
          : { jsonrpc: '2.0', id: call.id, error: errorOf(-32_016, 'over rate limit') },
      );
      return json(answers);
    };
  };

/** Every so many-th request is refused for how often it comes; none says for how long. */
const tooOften =
  (nth: number, answer: (request: ModelRequest, time: number) => ModelAnswer): Manner =>
  (front) => {
    let requests = 0;
    return (request) => {
      requests++;
      return requests % nth === 0 ? answer(request, requests / nth) : front(request);
    };
  };

/** A contract without the method that was asked for has returned something that the indexer cannot show. */
const showsNoNull: Manner = (front) => (request) => {
  const answer = front(request);
  if (request.path !== '/runGetMethod' || answer.status !== 200) return answer;
  const { exit_code } = JSON.parse(String(answer.body)) as { exit_code: number };
  if (exit_code <= 0) return answer;
  return json({ error: 'failed to decode api/v2 stack: unsupported stack entry type: unsupported' }, 501);
};

/** Unconfirmed transactions stand twice among those of a script. */
const listsTwice: Manner = (front) => (request) => {
  const answer = front(request);
  if (!/\/txs$/.test(request.path) || answer.status !== 200) return answer;
  const rows = JSON.parse(String(answer.body)) as { status: { confirmed: boolean } }[];
  return json([...rows.filter(({ status }) => !status.confirmed), ...rows]);
};

/** Wholly inside MWEB: without inputs and outputs, with flag 8, and under a name that its bytes do not prove. */
const HIDDEN_TXID = 'e'.repeat(64);
const HIDDEN_BYTES = `02000000${'00'}08${'00'}${'00'}01${'00'.repeat(4)}`;

/** The mempool holds a transaction of Litecoin that pays no one who can be seen. */
const holdsHidden: Manner = (front) => (request) => {
  const asked = callsIn(request);
  const answers = asked.map((call): unknown => {
    if (call.method === 'getrawtransaction' && call.params[0] === HIDDEN_TXID)
      return { result: HIDDEN_BYTES, error: null, id: call.id };
    const answer = front({ ...request, body: JSON.stringify(call) });
    const reply = JSON.parse(String(answer.body)) as { result: unknown };
    if (call.method !== 'getrawmempool' || !Array.isArray(reply.result)) return reply;
    return { ...reply, result: [...reply.result, HIDDEN_TXID] };
  });
  return json(isBatch(request) ? answers : answers[0]);
};

const often =
  (words: unknown, status = 429) =>
  () =>
    json(words, status);
const DRPC_BATCH =
  'Batch of more than 3 requests are not allowed on free tier, to use this feature register paid account at drpc.org';
const SUSPENDED = {
  Error: 'The key exceeds the frequency limit(15), and the query server is suspended for 30s',
};
const OVERLOADED = { Error: 'class java.lang.IllegalAccessException : lack of computing resources' };
/** What comes this often is refused once. */
const NTH = 11;

/** By the kind of provider. */
export const hosts: Readonly<Record<string, readonly Host[]>> = {
  evm: [
    {
      name: 'drpc.org',
      manners: [
        batchOf(3, 500, each(31, DRPC_BATCH)),
        logsOver(10_000, 35, () => 'ranges over 10000 blocks are not supported on freetier'),
      ],
    },
    {
      name: 'mainnet.base.org',
      manners: [
        batchOf(10, 200, whole(-32_014, 'maximum 10 calls in 1 batch')),
        logsOver(2_000, -32_614, () => 'block range too large'),
        answersPart(NTH, 5),
      ],
    },
    {
      name: 'publicnode.com',
      manners: [
        logsOver(50_000, -32_701, () => 'exceed maximum block range: 50000'),
        tooOften(NTH, () => text('Too Many Requests', 429)),
      ],
    },
    {
      name: 'g.alchemy.com',
      manners: [
        logsOver(
          10,
          -32_600,
          (from) =>
            `Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: [0x${from.toString(16)}, 0x${(from + 9).toString(16)}].`,
        ),
      ],
    },
    { name: 'quiknode.pro', manners: [logsOver(5, -32_614, () => 'eth_getLogs is limited to a 5 range')] },
    { name: 'infura.io', manners: [logsOver(100, -32_602, () => 'range 1000 exceeds limit of 100')] },
    {
      name: 'onfinality.io',
      manners: [batchOf(5, 500, each(-32_000, 'internal error'))],
    },
  ],
  tron: [
    {
      name: 'api.trongrid.io',
      manners: [tooOften(NTH, (_, time) => json(SUSPENDED, [403, 429, 503][time % 3] as number))],
    },
    {
      name: 'a java-tron of one’s own',
      manners: [
        batchOf(100, 200, whole(-32_005, 'Batch size 120 exceeds the limit of 100')),
        logsOver(5_000, -32_602, () => 'exceed max block range: 5000'),
        tooOften(NTH, often(OVERLOADED, 200)),
      ],
    },
  ],
  toncenter: [
    {
      name: 'toncenter.com',
      manners: [showsNoNull, tooOften(NTH, often({ ok: false, result: 'Ratelimit exceed', code: 429 }))],
    },
  ],
  solana: [
    {
      name: 'api.mainnet.solana.com',
      manners: [
        tooOften(NTH, (request) =>
          json(
            {
              jsonrpc: '2.0',
              id: callsIn(request)[0]?.id ?? null,
              error: errorOf(429, 'Too many requests for a specific RPC call'),
            },
            429,
          ),
        ),
      ],
    },
  ],
  esplora: [
    {
      name: 'mempool.space',
      manners: [
        listsTwice,
        tooOften(NTH, () => text('<html><title>429 Too Many Requests</title></html>', 429)),
      ],
    },
  ],
  core: [{ name: 'a node of Litecoin', manners: [holdsHidden], refuses: false }],
};

/** A model with the manners of a host. */
export const asHost = (front: Front, { manners }: Host): Front =>
  manners.reduce((changed, manner) => manner(changed), front);
