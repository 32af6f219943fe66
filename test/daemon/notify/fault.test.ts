// What others have answered is shown with who it was, without what could be a key, and not at length.
import { expect, test } from 'vitest';
import { foreignWords, readingFault } from '../../../daemon/notify/fault.ts';
import { verifies } from '../../requirements.ts';

test('the words of others are without keys and are cut', () => {
  verifies('notice-steps');
  const key = 'k3yk3yk3yk3yk3yk3yk3yk3yk3yk3yk3y9';
  for (const text of [
    `GET https://node.example/?api_key=short failed`,
    `https://user:pass@node.example refused`,
    `node.example/v3/${key}: HTTP 403`,
    `authorization: Bearer abc was refused`,
  ]) {
    const shown = foreignWords(text);
    expect(shown).toContain('…');
    expect(shown).not.toMatch(/short|user:pass|k3y|abc/);
  }
  expect(foreignWords('node.example: answered HTTP 503')).toBe('node.example: answered HTTP 503');
  expect(foreignWords('no '.repeat(1_000)).length).toBeLessThan(200);
});

test('why a blockchain is not read names each provider once, or what another daemon has stored', () => {
  verifies('notice-steps');
  const providers = [
    { provider: 'one.example', last_error: 'one.example: answered HTTP 503' },
    { provider: 'two.example', last_error: 'no answer within 10 s' },
    { provider: 'three.example', last_error: null },
  ];
  expect(readingFault({ last_error: 'older' }, providers)).toBe(
    ': one.example: answered HTTP 503, two.example: no answer within 10 s',
  );
  expect(readingFault({ last_error: 'one.example: closed' }, [])).toBe(': one.example: closed');
  expect(readingFault(undefined, [])).toBe('');
});
