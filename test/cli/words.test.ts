// Mistyped words: refused with the nearest before anything is asked, and completed by every shell.
import { execa } from 'execa';
import { afterAll, expect, it } from 'vitest';
import { eventTypes } from '../../src/event-types.ts';
import { verifies } from '../requirements.ts';
import { makeGw } from './helpers/gw.ts';

/** Nothing listens there: what is mistyped is refused before anything is sent. */
const gw = makeGw('http://127.0.0.1:9');
afterAll(() => gw.remove());
const env = { GW_TOKEN: 'token', GW_API_KEY: 'gw_key' };

it.each([
  [['invoice', 'list', '--status', 'craeted'], 'created'],
  [['admin', 'payments', '--status', 'unmached'], 'unmatched'],
  [['admin', 'payments', '--kind', 'sael'], 'sale'],
  [['event', 'list', '--type', 'invoice.confrimed'], 'invoice.confirmed'],
  [['event', 'list', '--order', 'newset'], 'newest'],
  [['listen', '--events', 'invoice.created,invoice.expierd'], 'invoice.expired'],
  [['admin', 'resolve', '01a2074b-8a67-7001-ae74-f330b5dcea5d', 'confrim', '--yes'], 'confirm'],
  [['completion', 'zhs'], 'zsh'],
])('gw %j is refused, and %s named', async (args, meant) => {
  verifies('gw-known-words');
  const ran = await gw([...args, '--json'], { env });
  expect(ran).toMatchObject({ code: 2, error: { error: { hint: `did you mean ${meant}?` } } });
  expect(ran.error.error.message).toContain(`${meant}`);
});

it('takes words in any case', async () => {
  const ran = await gw(['admin', 'payments', '--status', 'Late', '--json'], { env });
  expect(ran).toMatchObject({ code: 69 });
});

it('completes the words of a flag and of a value', async () => {
  verifies('gw-known-words', 'gw-completion');
  const { stdout: script } = await gw(['completion', 'bash']);
  const complete = async (...words: string[]) => {
    const line = words.map((word) => `'${word}'`).join(' ');
    const { stdout } = await execa('bash', [
      '-c',
      `${script}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _gw; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ]);
    return stdout.split('\n').filter((word) => word !== '');
  };
  expect(await complete('gw', 'invoice', 'list', '--status', '')).toEqual(
    expect.arrayContaining(['created', 'confirmed']),
  );
  expect(await complete('gw', 'admin', 'payments', '--status', 'un')).toEqual(['unmatched']);
  expect(await complete('gw', 'event', 'list', '--type', 'invoice.c')).toEqual(
    eventTypes.filter((type) => type.startsWith('invoice.c')),
  );
  expect(await complete('gw', 'completion', 'po')).toEqual(['powershell']);
  expect(await complete('gw', 'admin', 'resolve', 'SOME_ID', 'con')).toEqual(['confirm']);
  // Behind a value, the flags continue; plurals complete as what they stand for.
  expect(await complete('gw', 'invoice', 'list', '--status', 'created', '--ext')).toEqual(['--external-ref']);
  expect(await complete('gw', 'invoices', 'li')).toEqual(['list']);
  expect(await complete('gw', 'invoices', '--sta')).toEqual(['--status']);
  expect(await complete('gw', 'invoices', '--status', 'exp')).toEqual(['expired']);
});
