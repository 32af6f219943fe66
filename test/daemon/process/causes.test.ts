// A failure that lasts is one line when it begins, few while it lasts, and one when it is over.
import { expect, test } from 'vitest';
import { createCauses } from '../../../daemon/process/causes.ts';
import { createLog } from '../../../daemon/process/log.ts';
import { verifies } from '../../requirements.ts';

test('a cause is logged when it begins, each five minutes with a count, and when it is over', () => {
  verifies('log-causes');
  const lines: { msg: string; level: string; failures?: number; failing_seconds?: number }[] = [];
  const log = createLog({ level: 'info', sink: { write: (line) => lines.push(JSON.parse(line)) } });
  let now_ms = 0;
  const causes = createCauses(log, { elapsed_ms: () => now_ms });
  const fail = (cause: string) => causes.failed(cause, 'warn', { cause }, `${cause} fails`);
  causes.over('one', {}, 'one works');
  for (let second = 0; second <= 620; second += 10) {
    now_ms = second * 1000;
    fail('one');
    if (second === 100) fail('other');
  }
  causes.over('one', {}, 'one works');
  causes.over('one', {}, 'one works');
  fail('one');
  expect(lines.map(({ msg, failures, failing_seconds }) => [msg, failures, failing_seconds])).toEqual([
    ['one fails', undefined, undefined],
    ['other fails', undefined, undefined],
    ['one fails', 30, 300],
    ['one fails', 30, 600],
    ['one works', 63, 620],
    ['one fails', undefined, undefined],
  ]);
});
