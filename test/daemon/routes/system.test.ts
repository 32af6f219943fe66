// Whether the service lives, and its test mail.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { verifies } from '../../requirements.ts';

describe.each(databases)('the system on %s', (database) => {
  let service: TestApp;
  beforeAll(async () => {
    service = await startApp({ database });
  });
  afterAll(() => service.stop());

  test('answers that it lives, as a message and as a boolean', async () => {
    verifies('get-health', 'get-health-check');
    const health = await service.fetch('GET', '/health');
    expect([health.status, health.json]).toEqual([200, { message: 'ok' }]);
    for (const path of ['/api/v1/utils/health-check/', '/api/v1/utils/health-check']) {
      const { status, json } = await service.fetch('GET', path);
      expect([status, json]).toEqual([200, true]);
    }
  });

  const send = (query: string, token?: string, app = service) =>
    app.fetch('POST', `/api/v1/utils/test-email/${query}`, { token });

  test('sends a test mail for superusers', async () => {
    verifies('post-test-email', 'error-success-200');
    const { token } = await service.superuser();
    const sent = await send('?email_to=ada@example.com', token);
    expect([sent.status, sent.json]).toEqual([201, { message: 'Test email sent' }]);
    const outbox = join(service.app.config.data_dir, 'outbox');
    const [file = ''] = readdirSync(outbox);
    expect(readFileSync(join(outbox, file), 'utf8')).toContain('To: ada@example.com');
    const invalid = await send('?email_to=ada', token);
    expect([invalid.status, invalid.json.detail[0].type]).toEqual([422, 'value_error']);
    expect((await send('', token)).json.detail[0]).toMatchObject({
      type: 'missing',
      loc: ['query', 'email_to'],
    });
    const { token: merchant } = await service.merchant();
    expect((await send('?email_to=ada@example.com', merchant)).status).toBe(403);
    expect((await send('?email_to=ada@example.com')).status).toBe(401);
  });

  test('says that the mail server cannot be reached', async () => {
    const away = await startApp({ database, settings: { smtp_url: 'smtp://127.0.0.1:9' } });
    try {
      const { token } = await away.superuser();
      const { status, json } = await send('?email_to=ada@example.com', token, away);
      expect([status, json.code]).toEqual([503, 'mail_failed']);
      expect(json.detail).toContain('ECONNREFUSED');
    } finally {
      await away.stop();
    }
  });
});
