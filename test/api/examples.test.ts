// Every operation's example works as it stands, on both databases, against a real blockchain.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRpc } from '../../daemon/observer/rpc.ts';
import { placeholders } from '../../src/api/example-call.ts';
import { gatewaysOf } from '../../src/chains/gateways.ts';
import { ton } from '../../src/chains/ton.ts';
import { startTonChain, type TonChain } from '../chains/ton-chain.ts';
import { databases, testClock } from '../helpers/app.ts';
import { verifies } from '../requirements.ts';
import { described, exampleCall, openWorld, rightful, type World } from './world.ts';

describe.each(databases)('examples on %s', (database) => {
  verifies('both-databases');
  let chain: TonChain;
  let world: World;
  beforeAll(async () => {
    chain = await startTonChain();
    const usdt = gatewaysOf('testnet').find((gateway) => gateway.chain === 'ton-usdt');
    await chain.deployJetton({ address: usdt?.token_contract ?? undefined });
    const clock = testClock(chain.now());
    const source = openRpc({
      blockchain: 'ton',
      family: ton,
      network: 'testnet',
      providers: [{ provider: 'toncenter', url: chain.url }],
      requests_per_second: 100,
      clock,
    });
    world = await openWorld({ database, clock, source: (id) => (id === 'ton' ? source : undefined) });
  });
  afterAll(async () => {
    await world.stop();
    await chain.stop();
  });

  test.each(described.map((endpoint) => [endpoint.id, endpoint] as const))(
    'of %s is answered as described',
    async (_, endpoint) => {
      const cast = await world.cast();
      const { method, path, ...call } = exampleCall(endpoint, cast.values);
      const answer = await world.service.fetch(method, path, { ...call, ...rightful(endpoint.auth, cast) });
      expect(answer.status, `${answer.text} ${world.service.log.slice(-3).join()}`).toBe(
        endpoint.status ?? 200,
      );
    },
  );

  test('are given for every operation', () => {
    expect(described.filter(({ example }) => !example).map(({ id }) => id)).toEqual([]);
  });

  test('use placeholders that are explained, and explain none that are not used', async () => {
    const used = described.flatMap(({ example = {} }) =>
      [...JSON.stringify(example).matchAll(/\{([a-z_]+)\}/g)].map((match) => match[1]),
    );
    const explained = placeholders('testnet').map(({ name }) => name);
    // Those two stand for credentials, which every other call carries in its headers.
    const credentials = ['access_token', 'api_key'];
    expect([...new Set([...used, ...credentials])].sort()).toEqual([...explained].sort());
  });
});
