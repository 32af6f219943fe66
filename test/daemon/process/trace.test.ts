// The lines of one invoice, from the request that made it to its webhook, and what they leave out.
import { expect, onTestFinished, test } from 'vitest';
import { startApp } from '../../helpers/app.ts';
import { ask } from '../../helpers/service.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';

/** No one listens there. */
const NOWHERE = 'http://127.0.0.1:9/hook';

test('one request id leads to every later line of its invoice, also those of the webhook; callers are left out where asked for', async () => {
  verifies('log-trace');
  const service = await startApp({ settings: { log_callers: false } });
  onTestFinished(() => service.stop());
  const { key } = await service.merchant();
  const body = { chain: 'ton', amount: '5', callback_url: NOWHERE };
  const made = await service.fetch('POST', '/v1/invoices', { key, body });
  const { id } = made.json;
  await ask(service, 'POST', `/v1/invoices/${id}/simulate`, { key });
  const lines = () => service.log.map((line) => JSON.parse(line));
  const messagesOf = () => lines().flatMap(({ invoice_id, msg }) => (invoice_id === id ? msg : []));
  await until('the webhook is logged', async () => messagesOf().includes('webhook sent') || undefined);
  expect(messagesOf()).toEqual(['invoice created', 'invoice moved', 'webhook sent']);
  const request_id = made.headers.get('x-request-id');
  const ofRequest = lines().filter((line) => line.request_id === request_id);
  expect(ofRequest.map(({ msg, invoice_id }) => [msg, invoice_id])).toEqual([
    ['invoice created', id],
    ['request', undefined],
    ['invoice moved', id],
    ['webhook sent', id],
  ]);
  expect(lines().some((line) => 'ip' in line)).toBe(false);
});
