// Providers that are exchanged in the middle of a reading: it ends with those that it began with.
import { expect, test } from 'vitest';
import type { RpcSource } from '../../../daemon/observer/providers/rpc.ts';
import { switched } from '../../../daemon/observer/providers/switch.ts';
import { systemRuntime } from '../../../daemon/process/runtime.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';

function source(label: string) {
  let closed = false;
  const made: RpcSource = {
    use: async (work) => {
      if (closed) throw new Error(`${label} is closed`);
      const value = await work({} as never, label);
      if (closed) throw new Error(`${label} was closed meanwhile`);
      return value;
    },
    askOther: (_, work) => made.use(work),
    retryAt: () => 0,
    status: () => [],
    close: async () => {
      closed = true;
    },
  };
  return { made, isClosed: () => closed };
}

test('what has begun ends with the provider before, which is closed after it; what begins then asks the next', async () => {
  verifies('settings-reload');
  const [first, second] = [source('first'), source('second')];
  const used = switched(first.made, systemRuntime);
  const gate = gateOf();
  const reading = used.use(async (_, label) => {
    await gate.promise;
    return label;
  });
  used.replace(second.made);
  expect(await used.use(async (_, label) => label)).toBe('second');
  expect(await used.askOther('second', async (_, label) => label)).toBe('second');
  expect(first.isClosed()).toBe(false);
  gate.resolve(undefined);
  expect(await reading).toBe('first');
  await until('the first is closed', async () => first.isClosed() || undefined);
  expect(second.isClosed()).toBe(false);
  await used.close();
  expect(second.isClosed()).toBe(true);
});

test('at a stop those that are still asked are closed as well', async () => {
  verifies('settings-reload');
  const [first, second] = [source('first'), source('second')];
  const used = switched(first.made, systemRuntime);
  const gate = gateOf();
  const reading = used.use(() => gate.promise).catch((error: Error) => error.message);
  used.replace(second.made);
  await used.close();
  expect([first.isClosed(), second.isClosed()]).toEqual([true, true]);
  gate.resolve(undefined);
  expect(await reading).toBe('first was closed meanwhile');
});

function gateOf() {
  let resolve: (value: unknown) => void = () => {};
  const promise = new Promise<unknown>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
