// What is logged is one line each, without secrets and without what a terminal would obey.
import { describe, expect, test } from 'vitest';
import { createLog, type LogOptions } from '../../../daemon/process/log.ts';

function logged(options: Partial<LogOptions>, ...entries: [object, string][]): string[] {
  const lines: string[] = [];
  const log = createLog({ level: 'info', sink: { write: (line) => lines.push(line) }, ...options });
  for (const [fields, message] of entries) log.info(fields, message);
  return lines;
}

const hostile = 'line\nfeed \u001b[2J \u009b2J \u202e reversed';

describe.each([false, true])('with readable lines: %s', (pretty) => {
  test.each<[string, object, string]>([
    ['an API key', { seen: 'gw_2NEpo7TZRRrLZSi2U2sxBeqDi' }, '2NEpo7TZRRrLZSi2U2sxBeqDi'],
    ['a key of the query', { url: '/v1/invoices?api_key=abcdef&x=1' }, 'abcdef'],
    ['a bearer token', { header: 'Bearer abc.def-ghi' }, 'abc.def-ghi'],
    ['a token', { note: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln' }, 'eyJzdWIiOiIxIn0'],
    ['a field named password', { body: { password: 'open "sesame"' } }, 'sesame'],
    ['a webhook secret', { hook: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }, 'MfKQ9r8'],
    ['the password of a URL', { db: 'postgres://me:opensesame@host/db' }, 'opensesame'],
    ['a configured secret', { text: 'it is swordfish-77 today' }, 'swordfish-77'],
    ['a secret within an error', { err: new Error('failed: https://x/?token=t0ps3cret') }, 't0ps3cret'],
  ])('%s is masked', (_, fields, secret) => {
    const [line] = logged({ pretty, secrets: ['swordfish-77', undefined, 'x'] }, [fields, 'seen']);
    expect(line).not.toContain(secret);
    expect(line).toContain('(hidden)');
  });

  test('text from outside stays on its line and moves no cursor', () => {
    const [line, ...more] = logged({ pretty }, [{ agent: hostile }, hostile]);
    expect(more).toEqual([]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    expect(line).toMatch(/^[^\u0000-\u001f\u007f-\u009f\u202e]*\n$/);
  });
});

test('a JSON line has time, level, message and fields', () => {
  const [line] = logged({}, [{ request_id: 'r', status: 200 }, 'request']);
  expect(JSON.parse(line ?? '')).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    request_id: 'r',
    status: 200,
    msg: 'request',
  });
});

test('a readable line is short', () => {
  const [line] = logged({ pretty: true }, [
    { endpoint: 'health', ms: 1, ip: null, note: 'two words' },
    'request',
  ]);
  expect(line).toMatch(/^\d\d:\d\d:\d\d info {2}request endpoint=health ms=1 ip=null note="two words"\n$/);
});

test('lines below the level are not written', () => {
  expect(logged({ level: 'warn' }, [{}, 'quiet'])).toEqual([]);
});
