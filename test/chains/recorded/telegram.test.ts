// What Telegram's Bot API really answers, read as the product reads it.
import { expect, test } from 'vitest';
import { openTargets } from '../../../daemon/notify/targets.ts';
import type { OutClient } from '../../../daemon/process/network.ts';
import { systemRuntime } from '../../../daemon/process/runtime.ts';
import { openRecords, type Recorded } from './recorded.ts';

const records = openRecords('telegram');
const message = { id: 'n1', subject: 'A notice', lines: ['one thing'], notices: [] };

/** What is made of these answers, in this order, and to whom each message went. */
async function send(...names: string[]) {
  const answers = names.map((name) => records.named(name));
  const sent: { chat_id: string; path: string }[] = [];
  const client: OutClient = {
    async request({ path, body }) {
      const { status, body: answer } = answers[sent.length] as Recorded;
      sent.push({ path, chat_id: (JSON.parse(body) as { chat_id: string }).chat_id });
      const bytes = Buffer.from(JSON.stringify(answer));
      return {
        statusCode: status,
        body: (async function* () {
          yield bytes;
        })(),
      };
    },
    destroy: async () => {},
  };
  const targets = openTargets({
    config: {
      telegram: { api_url: 'https://api.telegram.org', bot_token: '1:a' },
      webhook_allow_private: false,
      public_url: 'https://shop.example',
    } as never,
    mail: { send: async () => {} } as never,
    clock: { ms: () => 1_700_000_000_000 },
    runtime: {
      ...systemRuntime,
      network: {
        toReceiver: () => client,
        toProvider: () => {
          throw new Error('no provider is asked here');
        },
      },
    },
  });
  const fault = await targets.send({ to: 'telegram:-100123' } as never, message, AbortSignal.timeout(5_000));
  return { fault, sent };
}

test('a message that was sent', async () => {
  const { fault, sent } = await send('a message that was sent');
  expect(fault).toBeNull();
  expect(sent).toEqual([{ path: '/bot1:a/sendMessage', chat_id: '-100123' }]);
});

test('a group that became another one is followed there', async () => {
  const { fault, sent } = await send('a group that became a supergroup', 'a message that was sent');
  expect(fault).toBeNull();
  expect(sent.map(({ chat_id }) => chat_id)).toEqual(['-100123', '-1001000000001']);
});

test.each([
  ['messages that come too often', 15, /Telegram asks to wait/],
  ['a chat that the bot does not know', 0, /does not know this chat/],
  ['a bot that was blocked', 0, /was blocked/],
  ['a token that is wrong', 0, /bot_token is wrong/],
])('it may refuse: %s', async (name, wait_seconds, reason) => {
  const { fault } = await send(name);
  expect(fault).toMatchObject({ wait_seconds, reason: expect.stringMatching(reason) });
});

test('every recorded answer of this kind was read', () => {
  expect(records.unread()).toEqual([]);
});
