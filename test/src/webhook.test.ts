// Webhooks are signed so that every Standard Webhooks library accepts them.
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { signWebhook, webhookBody, webhookHeaders, webhookKey } from '../../src/webhook.ts';
import { verifies } from '../requirements.ts';

const vector = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: 1614265330,
  body: '{"test": 2432232314}',
};

const now = () => Math.floor(Date.now() / 1000);
const event = {
  type: 'invoice.confirmed' as const,
  created_at: 1767225600,
  invoice: { id: 'b1', title: 'Café – “naïve” ☕', amount: '1.50' },
  payment: { status: 'confirmed' },
};

describe('the body of a webhook', () => {
  test('has type, ISO time, version and data, and nothing else', () => {
    verifies('webhook-body');
    expect(JSON.parse(webhookBody(event))).toEqual({
      type: 'invoice.confirmed',
      timestamp: '2026-01-01T00:00:00.000Z',
      api_version: 'v1',
      data: { invoice: event.invoice, payment: event.payment },
    });
  });
});

describe('the signature of a webhook', () => {
  test('is that of the test vector of the standard', () => {
    verifies('webhook-signature');
    expect(signWebhook(vector)).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  test.each([
    ['a whsec_ secret', vector.secret, new Webhook(vector.secret)],
    ['free text', 'correct horse', new Webhook('correct horse', { format: 'raw' })],
    ['text beyond ASCII', 'Schlüssel', new Webhook(new TextEncoder().encode('Schlüssel'), { format: 'raw' })],
  ])('made with %s is verified by the reference library', (_, secret, receiver) => {
    const body = webhookBody(event);
    const headers = webhookHeaders({ id: 'evt_1', timestamp: now(), body, secrets: [secret] });
    expect(receiver.verify(body, headers)).toEqual(JSON.parse(body));
  });

  test('fails when one byte of the body, the id, the time or the secret differs', () => {
    const { secret } = vector;
    const body = webhookBody(event);
    const headers = webhookHeaders({ id: 'evt_1', timestamp: now(), body, secrets: [secret] });
    const receiver = new Webhook(secret);
    const mismatch = 'No matching signature found';
    expect(() => receiver.verify(body.replace('1.50', '1.51'), headers)).toThrow(mismatch);
    expect(() => receiver.verify(`${body} `, headers)).toThrow(mismatch);
    expect(() => receiver.verify(body, { ...headers, 'webhook-id': 'evt_2' })).toThrow(mismatch);
    const later = String(now() + 1);
    expect(() => receiver.verify(body, { ...headers, 'webhook-timestamp': later })).toThrow(mismatch);
    const other = new Webhook('whsec_NfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
    expect(() => other.verify(body, headers)).toThrow(mismatch);
  });

  test('is refused by the reference library when it is older than five minutes', () => {
    const message = { id: 'evt_1', timestamp: now() - 301, body: '{}', secrets: [vector.secret] };
    expect(() => new Webhook(vector.secret).verify('{}', webhookHeaders(message))).toThrow('too old');
  });

  test('is left out where there is no secret, the other headers are not', () => {
    expect(webhookHeaders({ id: 'evt_1', timestamp: 5, body: '{}', secrets: [] })).toEqual({
      'webhook-id': 'evt_1',
      'webhook-timestamp': '5',
    });
  });
});

describe('a webhook secret', () => {
  test('after whsec_ is base64, any other is its UTF-8 bytes', () => {
    verifies('webhook-secret-forms');
    expect(webhookKey('whsec_AAEC')).toEqual(Uint8Array.of(0, 1, 2));
    expect(webhookKey('AAEC')).toEqual(new TextEncoder().encode('AAEC'));
    expect(webhookKey('é')).toEqual(Uint8Array.of(0xc3, 0xa9));
  });

  test.each(['', 'whsec_', 'whsec_not base64', 'whsec_AAE', 'whsec_AA-_'])(
    'that no receiver could use is refused: %j',
    (secret) => {
      expect(() => webhookKey(secret)).toThrow(expect.objectContaining({ code: 'bad_request' }));
    },
  );
});
