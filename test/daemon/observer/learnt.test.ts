// What a provider was found to take at once is known at the next start.
import { describe, expect, it, onTestFinished } from 'vitest';
import { openLearnt } from '../../../daemon/observer/providers/learnt.ts';
import { providerLimits } from '../../../data/provider-limits.ts';
import { startApp } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';

describe.each(databases)('limits of providers on %s', (database) => {
  it('are stored, each as it was learnt last, and read at the next start', async () => {
    verifies('refusals-known');
    const { app, stop } = await startApp({ single: true, database });
    onTestFinished(stop);
    const first = openLearnt(app, 'base');
    await first.load();
    const host = first.of('evm at a.example');
    expect(host.get('batch_calls')).toBeUndefined();
    for (const value of [10, 3, 3]) host.learn('batch_calls', value);
    host.learn('log_blocks', 2_000);
    openLearnt(app, 'ethereum').of('evm at a.example').learn('batch_calls', 50);
    await until('both limits are stored', async () => {
      const stored = await providerLimits(app.db.query, 'base');
      return stored.length === 2 && stored.some(({ value }) => value === 3) ? true : undefined;
    });
    const next = openLearnt(app, 'base');
    await next.load();
    expect(next.of('evm at a.example').get('batch_calls')).toBe(3);
    expect(next.of('evm at a.example').get('log_blocks')).toBe(2_000);
    expect(next.of('evm at b.example').get('batch_calls')).toBeUndefined();
  });
});
