// An EVM provider over real HTTP: batches out of order, refusals in every form, and no word of the key in its URL.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openRpc } from '../../daemon/observer/providers/rpc.ts';
import { networks } from '../../src/chains/evm/networks.ts';
import { ProviderError } from '../../src/chains/family.ts';
import { systemClock } from '../helpers/clock.ts';
import { type EvmChain, hasAnvil, startAnvil } from './evm-chain.ts';
import { createFront } from './evm-front.ts';
import { createEvmObserver, gatewayOf } from './evm-observer.ts';

const TOKEN = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
const SECRET = 'aSecretOfTheOperator';
const network = networks.bsc;

interface Asked {
  id: number;
  method: string;
  params: unknown[];
}
/** Answers in place of the node; false where the node is to answer. */
type Odd = (asked: Asked | Asked[], response: ServerResponse) => boolean;

describe.runIf(hasAnvil)('an EVM provider over HTTP', () => {
  let chain: EvmChain;
  beforeAll(async () => {
    const tokens = [{ address: TOKEN }];
    chain = await startAnvil({ chain_id: network.chain_ids.testnet, block_seconds: 1, tokens, history: 10 });
  });
  afterAll(() => chain?.stop());

  async function open() {
    let odd: Odd = () => false;
    let requests = 0;
    const server = createServer(async (request, response) => {
      requests++;
      let body = '';
      for await (const chunk of request) body += chunk;
      const asked = JSON.parse(body) as Asked | Asked[];
      if (odd(asked, response)) return;
      const answer = async ({ id, method, params }: Asked) => {
        const result = await chain.ask(method, ...params);
        return { jsonrpc: '2.0', id, result };
      };
      // Providers answer a batch in any order.
      const answers = Array.isArray(asked)
        ? (await Promise.all(asked.map(answer))).reverse()
        : await answer(asked);
      response.end(JSON.stringify(answers));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const gateways = [gatewayOf(network, { chain: 'a-usdc', token_contract: TOKEN })];
    const observer = createEvmObserver({
      network,
      gateways,
      rpc: createFront(chain.ask).rpc,
      now: () => chain.now(),
    });
    const source = openRpc({
      blockchain: 'bsc',
      family: observer.family,
      network: 'testnet',
      providers: [{ provider: 'evm', url: `http://127.0.0.1:${port}/v2/${SECRET}?key=${SECRET}` }],
      requests_per_second: 1000,
      clock: systemClock,
      limits: { timeout_ms: 2000 },
      random: () => 0,
    });
    onTestFinished(async () => {
      await source.close();
      server.close();
    });
    const read = () =>
      source
        .use((rpc) => observer.read({ rpc }))
        .then(
          () => null,
          (error: unknown) => error as ProviderError,
        );
    const be = (how: Odd) => {
      odd = how;
    };
    const to = observer.watch();
    expect(await read()).toBeNull();
    return { observer, to, read, be, requests: () => requests };
  }

  async function pay(to: string): Promise<void> {
    await chain.payToken(TOKEN, to, 5n);
    await chain.mine(2);
  }

  it('answers batches in any order', async () => {
    const { observer, to, read } = await open();
    await pay(to);
    expect(await read()).toBeNull();
    expect(observer.amounts(to)).toEqual([5n]);
  });

  const text =
    (status: number, body: string, headers = {}) =>
    (_: unknown, response: ServerResponse) => {
      response.writeHead(status, headers).end(body);
      return true;
    };
  it.each<[string, ProviderError['kind'], Odd]>([
    ['429', 'rate_limited', text(429, '{"error":"slow down"}')],
    ['429 for a minute', 'rate_limited', text(429, '', { 'retry-after': '60' })],
    ['403 of a frequency limit', 'rate_limited', text(403, 'The frequency limit was reached')],
    [
      '200 with an error that is no JSON-RPC',
      'rate_limited',
      text(200, '{"Error":"lack of computing resources"}'),
    ],
    [
      '200 with an error of the whole batch',
      'rate_limited',
      text(
        200,
        '{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"daily request limit exceeded"}}',
      ),
    ],
    ['200 with a page', 'bad_answer', text(200, '<html>502 Bad Gateway</html>')],
    ['502', 'unreachable', text(502, 'Bad Gateway')],
    ['401', 'unreachable', text(401, `the key ${SECRET} is unknown`)],
    [
      'half an answer',
      'bad_answer',
      (_, response) => {
        response.writeHead(200, { 'content-length': '1000' }).write('[{"jsonrpc":"2.0","id":1,');
        setTimeout(() => response.destroy(), 20);
        return true;
      },
    ],
    [
      'the answers to other questions',
      'bad_answer',
      (asked, response) => {
        const of = (id: number) => ({ jsonrpc: '2.0', id: id + 1000, result: null });
        response.end(JSON.stringify(Array.isArray(asked) ? asked.map(({ id }) => of(id)) : of(asked.id)));
        return true;
      },
    ],
  ])('that answers with %s is %s, and moves nothing', async (_, kind, how) => {
    const { observer, to, read, be } = await open();
    await pay(to);
    const before = observer.cursor;
    be(how);
    const error = await read();
    expect(error).toBeInstanceOf(ProviderError);
    expect(error?.kind).toBe(kind);
    expect(error?.message).not.toContain(SECRET);
    expect([observer.cursor, observer.transfers.size]).toEqual([before, 0]);
  });

  it('that answers no batch is asked one by one, within one reading', async () => {
    const { observer, to, read, be } = await open();
    await pay(to);
    be(
      (asked, response) =>
        Array.isArray(asked) && text(400, 'Batch requests are not supported')(asked, response),
    );
    expect(await read()).toBeNull();
    expect(observer.amounts(to)).toEqual([5n]);
  });
});
