// One account's share of the daemon: what it asks at once waits for itself, never for long, and never keeps others waiting.
import { beforeEach, expect, test } from 'vitest';
import { type AccountTurns, type Leave, openAccountTurns } from '../../../daemon/http/account-turns.ts';

let now = 0;
let timers: { at: number; work: () => void }[] = [];
let turns: AccountTurns;
/** Calls that the public waits for. */
let first = 0;
beforeEach(() => {
  now = 0;
  timers = [];
  first = 0;
  const runtime = {
    elapsed_ms: () => now,
    turn: () => new Promise<void>((resolve) => setImmediate(resolve)),
    after(ms: number, work: () => void) {
      const timer = { at: now + ms, work };
      timers.push(timer);
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    },
  };
  turns = openAccountTurns(runtime, () => {
    first++;
    return () => {
      first--;
    };
  });
});

function pass(ms: number): void {
  now += ms;
  const due = timers.filter(({ at }) => at <= now);
  timers = timers.filter(({ at }) => at > now);
  for (const { work } of due) work();
}

/** So many calls of an account; `under_way` are those that have their place. */
function calls(account: string, count: number): Leave[] {
  const under_way: Leave[] = [];
  for (let each = 0; each < count; each++) {
    const taken = turns(account);
    if (taken instanceof Promise) void taken.then((leave) => under_way.push(leave));
    else under_way.push(taken);
  }
  return under_way;
}

/** Until those that got their turn have noted it. */
async function settle(): Promise<void> {
  for (let each = 0; each < 50; each++) await new Promise((resolve) => setImmediate(resolve));
}

test('an account that is alone has many calls under way, and two as soon as another calls', async () => {
  const first = calls('greedy', 100);
  expect(first).toHaveLength(32);
  expect(calls('other', 1)).toHaveLength(1);
  for (const leave of first.splice(0)) leave();
  await settle();
  expect(first).toHaveLength(2);
  for (const leave of first.splice(0)) leave();
  await settle();
  expect(first).toHaveLength(2);
});

test('ten seconds after the other has called it has many again', async () => {
  calls('other', 1)[0]?.();
  expect(calls('greedy', 10)).toHaveLength(2);
  pass(11_000);
  await settle();
  expect(calls('greedy', 100).length).toBeGreaterThan(20);
});

test('all that waits gets its turn, in its order', async () => {
  const other = calls('other', 1);
  const order: number[] = [];
  for (let each = 0; each < 50; each++)
    void Promise.resolve(turns('greedy')).then((leave) => {
      order.push(each);
      leave();
    });
  for (let each = 0; each < 100; each++) await settle();
  expect(order).toEqual(Array.from({ length: 50 }, (_, at) => at));
  other[0]?.();
});

test('what waits for something outside gives its place up after a second', async () => {
  calls('other', 1);
  const under_way = calls('shop', 4);
  expect(under_way).toHaveLength(2);
  expect(first).toBe(3);
  pass(1_000);
  await settle();
  expect(under_way).toHaveLength(4);
  pass(1_000);
  // Nor does the public wait for it any longer.
  expect(first).toBe(0);
  // What was given up is not given up twice.
  for (const leave of under_way) leave();
  expect(first).toBe(0);
  expect(calls('shop', 8)).toHaveLength(2);
});

test('others are read between two calls of one account that waited', async () => {
  calls('other', 1);
  const order: string[] = [];
  for (let each = 0; each < 8; each++)
    void Promise.resolve(turns('greedy')).then((leave) => {
      order.push('greedy');
      leave();
    });
  setImmediate(() => order.push('read'));
  await settle();
  expect(order).toHaveLength(9);
  expect(order.indexOf('read')).toBeLessThan(8);
});

test('an account that lets too much wait is refused, and only that account', () => {
  calls('other', 1);
  calls('greedy', 1_002);
  expect(() => turns('greedy')).toThrow(expect.objectContaining({ code: 'rate_limited', retry_after: 1 }));
  expect(calls('another', 1)).toHaveLength(1);
});
