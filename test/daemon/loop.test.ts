// Loops: one run after the other, failures included, and calls that share a run.
import { expect, test } from 'vitest';
import { coalesce, repeat } from '../../daemon/loop.ts';

test('a loop waits as long as its work says, or its failure, and ends with the signal', async () => {
  const ending = new AbortController();
  const waited: number[] = [];
  let runs = 0;
  const work = async (): Promise<number> => {
    runs++;
    if (runs === 2) throw new Error('away');
    return runs;
  };
  const sleep = async (ms: number) => {
    waited.push(ms);
    if (waited.length === 3) ending.abort();
  };
  await repeat(work, { runtime: { sleep }, signal: ending.signal, onError: () => 100 });
  expect(waited).toEqual([1, 100, 3]);
});

test('a loop that takes no failures ends with the first', async () => {
  const { signal } = new AbortController();
  const work = () => Promise.reject(new Error('away'));
  await expect(repeat(work, { runtime: { sleep: async () => {} }, signal })).rejects.toThrow('away');
});

test('calls during a run share one more, with all that they ask for, also after a failure', async () => {
  const runs: string[][] = [];
  let end: () => void = () => {};
  const call = coalesce<string>(async (asked) => {
    runs.push([...asked]);
    await new Promise<void>((resolve) => {
      end = resolve;
    });
    if (runs.length === 1) throw new Error('away');
  });
  const first = call(['a']);
  const [second, third] = [call(['b']), call(['c'])];
  expect(runs).toEqual([['a']]);
  end();
  await expect(first).rejects.toThrow('away');
  await new Promise(setImmediate);
  expect(runs).toEqual([['a'], ['b', 'c']]);
  end();
  await Promise.all([second, third]);
  const fourth = call();
  end();
  await fourth;
  expect(runs).toEqual([['a'], ['b', 'c'], []]);
});
