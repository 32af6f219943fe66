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
  const expected: [words: string[], completed: string[]][] = [
    [['admin', 'payments', '--status', 'un'], ['unmatched']],
    [['event', 'list', '--type', 'invoice.c'], eventTypes.filter((type) => type.startsWith('invoice.c'))],
    [['completion', 'po'], ['powershell']],
    [['admin', 'resolve', 'SOME_ID', 'con'], ['confirm']],
    // Behind a value, the flags continue; plurals complete as what they stand for.
    [['invoice', 'list', '--status', 'created', '--ext'], ['--external-ref']],
    [['invoices', 'li'], ['list']],
    [['invoices', '--sta'], ['--status']],
    [['invoices', '--status', 'exp'], ['expired']],
    [['--color', 'al'], ['always']],
  ];
  // One shell for all: the script is long.
  const calls = expected.map(([words]) => {
    const line = ['gw', ...words].map((word) => `'${word}'`).join(' ');
    return `COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _gw; echo "\${COMPREPLY[*]}"`;
  });
  const { stdout } = await execa('bash', ['-c', [script, ...calls].join('\n')]);
  expect(stdout.split('\n').map((line) => line.split(' '))).toEqual(expected.map(([, words]) => words));
});
