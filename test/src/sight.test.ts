// One rule for how a blockchain is read, and the same word from it at every door.
import { expect, test } from 'vitest';
import { isSeeing, type Sight, sightStatuses, statusOf } from '../../src/sight.ts';
import { verifies } from '../requirements.ts';

const fine: Sight = {
  unavailable_since: null,
  is_answered: true,
  is_watched: true,
  is_read_elsewhere: false,
  lag_seconds: 3,
  providers: [{ state: 'ok' }, { state: 'down' }],
  poll_interval_seconds: 15,
};
const cases: [word: string, change: Partial<Sight>][] = [
  ['ok', {}],
  ['ok', { lag_seconds: 75 }],
  ['behind', { lag_seconds: 76 }],
  ['behind', { lag_seconds: 61, poll_interval_seconds: 1 }],
  ['idle', { is_watched: false, lag_seconds: null }],
  ['idle', { is_watched: false, lag_seconds: null, providers: [{ state: 'unknown' }] }],
  [
    'starting',
    { is_watched: false, lag_seconds: null, is_answered: false, providers: [{ state: 'unknown' }] },
  ],
  ['starting', { lag_seconds: null }],
  ['starting', { lag_seconds: null, is_answered: false, providers: [] }],
  ['down', { providers: [{ state: 'down' }, { state: 'wrong_network' }] }],
  ['down', { is_watched: false, lag_seconds: null, providers: [{ state: 'down' }] }],
  ['ok', { is_read_elsewhere: true, providers: [{ state: 'down' }] }],
  ['idle', { is_read_elsewhere: true, is_watched: false, providers: [{ state: 'wrong_network' }] }],
  ['behind', { is_read_elsewhere: true, lag_seconds: 76, providers: [{ state: 'down' }] }],
  ['blind', { unavailable_since: 1, providers: [{ state: 'down' }] }],
  ['blind', { unavailable_since: 1, is_watched: false, lag_seconds: null }],
  ['wrong_network', { providers: [{ state: 'wrong_network' }], unavailable_since: 1 }],
];

test.each(cases)('is %s: %j', (word, change) => {
  verifies('sight-one-rule');
  expect(statusOf({ ...fine, ...change })).toBe(word);
});

test('payments are seen where it is read or could be at once', () => {
  expect(sightStatuses.filter(isSeeing)).toEqual(['ok', 'idle', 'behind']);
});
