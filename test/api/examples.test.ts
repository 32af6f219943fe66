// Every operation's example works as it stands, on both databases, against a real blockchain.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { placeholders } from '../../src/api/project/example-call.ts';
import { databases } from '../helpers/database.ts';
import { verifies } from '../requirements.ts';
import { openTonWorld } from './ton-world.ts';
import { described, exampleCall, rightful, type World } from './world.ts';

describe.each(databases)('examples on %s', (database) => {
  verifies('both-databases');
  let world: World;
  beforeAll(async () => {
    world = await openTonWorld(database);
  });
  afterAll(() => world.stop());

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
