// What each family asks its providers to report on, what it takes for a hint, and when a payment is due to be read again.
import { describe, expect, test } from 'vitest';
import { secondsUntilDeeper } from '../../../daemon/observer/hints/due.ts';
import type { Blockchain } from '../../../src/chains/catalogue.ts';
import type { Gateway, HintFeed, HintRequest } from '../../../src/chains/family.ts';
import { builtIn, findBlockchain } from '../../../src/chains/gateways.ts';
import { associatedTokenAccount, TOKEN_PROGRAM } from '../../../src/chains/solana/address.ts';
import { verifies } from '../../requirements.ts';

const OWNER = 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk';
const feedOf = (id: string) => (findBlockchain(id) as Blockchain).family.hints as HintFeed;
const on = (id: string): Gateway[] => {
  const all = Object.fromEntries(builtIn.values.map(({ chain }) => [chain, { enabled: true }]));
  return builtIn.enabled('mainnet', all).filter(({ blockchain }) => blockchain === id);
};
const request = (id: string, addresses: string[], added = addresses): HintRequest => ({
  addresses,
  added,
  gateways: on(id),
  network: 'mainnet',
});

describe('what is asked for', () => {
  test('on Solana is each new wallet and its token accounts, at what is final and without their data', () => {
    const messages = feedOf('solana').subscribe(request('solana', ['seen before', OWNER], [OWNER]));
    const asked = messages as { method: string; params: [string, object] }[];
    const tokens = on('solana').flatMap(({ token_contract: mint }) =>
      mint ? associatedTokenAccount(OWNER, TOKEN_PROGRAM, mint) : [],
    );
    expect(tokens).toHaveLength(2);
    expect(asked.map(({ params }) => params[0])).toEqual([OWNER, ...tokens]);
    for (const { method, params } of asked) {
      expect(method).toBe('accountSubscribe');
      expect(params[1]).toEqual({
        commitment: 'finalized',
        encoding: 'base64',
        dataSlice: { offset: 0, length: 0 },
      });
    }
  });

  test('on TON is all addresses each time, for each message replaces the one before', () => {
    const addresses = ['0:aa', '0:bb'];
    expect(feedOf('ton').subscribe(request('ton', addresses, ['0:bb']))).toEqual([
      {
        operation: 'subscribe',
        id: '1',
        addresses,
        types: ['account_state_change', 'jettons_change'],
        min_finality: 'finalized',
      },
    ]);
  });

  test('on networks like Ethereum is logs that pay new addresses, and once the heads where blocks are slow', () => {
    const [first, second] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`];
    const asked = (id: string, ...of: [string[], string[]?]) =>
      feedOf(id)
        .subscribe(request(id, ...of))
        .map((message) => (message as { params: [string, { topics: string[][] }?] }).params);
    expect(asked('ethereum', [first]).map(([kind]) => kind)).toEqual(['newHeads', 'logs']);
    const later = asked('ethereum', [first, second], [second]);
    expect(later.map(([kind]) => kind)).toEqual(['logs']);
    expect(later[0]?.[1]?.topics[2]).toEqual([`0x${'0'.repeat(24)}${second.slice(2)}`]);
    expect(asked('base', [first]).map(([kind]) => kind)).toEqual(['logs']);
    // The coin of Polygon has logs of its own.
    expect(asked('polygon', [first]).map(([kind]) => kind)).toEqual(['logs', 'logs']);
  });
});

test('a hint is what was asked for, and nothing else that is sent', () => {
  const notice = (method: string, result: object) => ({
    jsonrpc: '2.0',
    method,
    params: { subscription: 1, result },
  });
  const hint = (id: string, message: unknown) => feedOf(id).hintIn(message);
  expect(hint('solana', notice('accountNotification', {}))).toBe('moved');
  expect(hint('solana', { jsonrpc: '2.0', id: 1, result: 7 })).toBeNull();
  expect(hint('ton', { type: 'jettons_change', finality: 'finalized' })).toBe('moved');
  expect(hint('ton', { id: '1', status: 'subscribed' })).toBeNull();
  expect(hint('base', notice('eth_subscription', { topics: [], data: '0x' }))).toBe('moved');
  expect(hint('ethereum', notice('eth_subscription', { number: '0x1' }))).toBe('block');
  expect(hint('base', { jsonrpc: '2.0', id: 1, error: { code: -32601 } })).toBeNull();
});

describe('a payment is read again when it is due', () => {
  const gateway = on('base').find(({ is_token }) => is_token) as Gateway;
  const at = (depth_seconds: number | null, confirmations = 1) => ({
    state: 'pending' as const,
    height: 1,
    confirmations,
    depth_seconds,
  });
  const timed = { ...gateway, confirm_seconds: 30, confirmations_by_value: [] };
  const counted = (({ confirm_seconds: _, ...rest }) => ({
    ...rest,
    min_confirmations: 12,
    confirmations_by_value: [],
  }))(gateway);

  test('by seconds where they decide, at any pace, and by blocks where these do', () => {
    verifies('hints-forward');
    expect(secondsUntilDeeper(timed, at(0), 0.2)).toBe(30);
    expect(secondsUntilDeeper(timed, at(29), 20)).toBe(1);
    expect(secondsUntilDeeper(timed, at(30), 2)).toBeNull();
    expect(secondsUntilDeeper(timed, at(null), 2)).toBeNull();
    expect(secondsUntilDeeper(counted, at(null, 2), 12)).toBe(120);
    expect(secondsUntilDeeper(counted, at(null, 12), 12)).toBeNull();
  });

  test('at the next step that an invoice may wait for', () => {
    const steps = [
      { below_usd: '100', seconds: 10 },
      { below_usd: '1000', seconds: 60 },
      { until: 'finalized' as const },
    ];
    const stepped = { ...timed, final_seconds: 900, confirmations_by_value: steps };
    expect(secondsUntilDeeper(stepped, at(3), 2)).toBe(7);
    expect(secondsUntilDeeper(stepped, at(10), 2)).toBe(20);
    expect(secondsUntilDeeper(stepped, at(40), 2)).toBe(20);
    expect(secondsUntilDeeper(stepped, at(70), 2)).toBe(830);
  });

  test('and not where no one knows when: in no block, decided, or where blocks come by luck', () => {
    expect(secondsUntilDeeper(timed, { ...at(0), height: null }, 2)).toBeNull();
    expect(secondsUntilDeeper(timed, { ...at(0), state: 'final' }, 2)).toBeNull();
    expect(secondsUntilDeeper({ ...counted, is_found_by_luck: true }, at(null), 600)).toBeNull();
  });
});
