// Operators are notified: once an hour for each cause, by mail, in Telegram and as signed JSON, whatever fails or restarts.
import { Webhook } from 'standardwebhooks';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { causes } from '../../../daemon/notify/causes.ts';
import { causesBySubject } from '../../../daemon/notify/names.ts';
import type { Target } from '../../../daemon/notify/targets.ts';
import type { RpcSource } from '../../../daemon/observer/providers/rpc.ts';
import { noteContradiction } from '../../../data/contradictions.ts';
import { changeMeta, LAST_BACKUP_AT } from '../../../data/meta.ts';
import { startApp, type TestApp, type TestAppOptions } from '../../helpers/app.ts';
import { testClock } from '../../helpers/clock.ts';
import { databases } from '../../helpers/database.ts';
import { json, type LocalServer, serve } from '../../helpers/local-server.ts';
import { create, credit, fundedMerchant, observe, transferTo } from '../../helpers/payments.ts';
import { silent, unreachable } from '../../helpers/reading.ts';
import { smtpServer } from '../../helpers/smtp.ts';
import { until } from '../../helpers/until.ts';
import { verifies } from '../../requirements.ts';
import { makeHome } from '../helpers/process.ts';

const HOUR = 3600;
const BOT = '12345:a-token-of-a-bot';

/** Takes everything, or what `status` says of each request. */
const receiver = (status: (index: number) => number = () => 200): Promise<LocalServer> =>
  serve(({ index }, response) => json(response, { ok: true }, status(index)));

const textsOf = ({ requests }: LocalServer): string[] => requests.map(({ body }) => JSON.parse(body).text);

async function start(notify: readonly Target[], options: TestAppOptions = {}): Promise<TestApp> {
  const service = await startApp({
    ...options,
    settings: { notify: JSON.stringify(notify), 'telegram.bot_token': BOT, ...options.settings },
  });
  onTestFinished(() => service.stop());
  await service.app.notify.tick();
  service.clock.advance(10);
  return service;
}

/** Finds what there is, and sends it. */
async function notify({ app, clock }: TestApp): Promise<void> {
  await app.notify.tick();
  clock.advance(10);
  await app.notify.tick();
}

/** A payment without a memo, which fits no invoice. */
async function payUnmatched(service: TestApp, key: { key: string }): Promise<void> {
  const invoice = await create(service, key, 'ton');
  await observe(service, 'ton', [transferTo(service, invoice, { memo: null })]);
}

/** A disk of so many GiB of which so much is free; that of the machine by default. */
const disk = vi.hoisted(() => ({ gibibytes: 100, free_share: null as number | null }));
vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof import('node:fs/promises')>();
  const gibibyte = 1024 ** 3;
  return {
    ...real,
    statfs: (path: string) =>
      disk.free_share === null
        ? real.statfs(path)
        : Promise.resolve({
            bsize: gibibyte / 1000,
            blocks: 1_000 * disk.gibibytes,
            bavail: 1_000 * disk.gibibytes * disk.free_share,
          }),
  };
});

describe.each(databases)('notifications on %s', (database) => {
  test('come once an hour for each cause, with all that happened meanwhile, also over a restart', async () => {
    verifies('notify');
    const target = await receiver();
    const to = [{ to: `${target.url}/hook`, on: ['payment_unmatched', 'payment_held'] }] as Target[];
    const clock = testClock();
    const first = await start(to, { database, clock });
    const merchant = await fundedMerchant(first);
    await payUnmatched(first, merchant);
    await notify(first);
    expect(target.requests).toHaveLength(1);
    expect(textsOf(target)[0]).toMatch(
      /^gatewayd: Unmatched payment\nUnmatched payment: 2\.5 TON fits no invoice;/,
    );
    await payUnmatched(first, merchant);
    await payUnmatched(first, merchant);
    await notify(first);
    expect(target.requests).toHaveLength(1);
    // Another cause has an hour of its own.
    const poor = await first.merchant();
    const held = await create(first, poor, 'ton');
    await observe(first, 'ton', [transferTo(first, held)]);
    await notify(first);
    expect(textsOf(target)[1]).toContain('gatewayd: Payment held by the limit');
    const restarted = await start(to, { clock, database_url: first.app.config.database_url, database });
    await notify(restarted);
    expect(target.requests).toHaveLength(2);
    clock.advance(HOUR);
    await notify(restarted);
    expect(target.requests).toHaveLength(3);
    expect(textsOf(target)[2]).toMatch(/^gatewayd: Unmatched payment \(2\)\n.*\n.*\nWhat to do: [^\n]*$/);
    clock.advance(HOUR);
    await notify(restarted);
    expect(target.requests).toHaveLength(3);
  });

  test('name late payments, webhooks that failed and contradictions, each to who asked for it', async () => {
    verifies('notify', 'notice-steps');
    const [all, late] = [await receiver(), await receiver()];
    const service = await start([{ to: `${all.url}/` }, { to: `${late.url}/`, on: ['payment_late'] }], {
      database,
    });
    const merchant = await fundedMerchant(service);
    const refusing = await receiver(() => 500);
    const paid = await create(service, merchant, 'ton', { callback_url: `${refusing.url}/paid` });
    const invoice = await create(service, merchant, 'ton');
    await observe(service, 'ton', [transferTo(service, paid)]);
    await service.fetch('POST', `/v1/invoices/${invoice.id}/cancel`, merchant);
    await observe(service, 'ton', [transferTo(service, invoice)]);
    await service.app.db.transaction((tx) =>
      noteContradiction(
        tx,
        {
          blockchain: 'ton',
          kind: 'transfer_amount',
          subject: 'one',
          txid: 'ab',
          invoice_id: null,
          details: {},
        },
        service.clock.now(),
      ),
    );
    await until('the webhook has failed', async () => refusing.requests[0]);
    const lines = await until('everything was sent', async () => {
      await notify(service);
      const texts = textsOf(all).join('\n');
      return /Webhook failed/.test(texts) && /Contradiction/.test(texts) ? texts : undefined;
    });
    expect(lines).toContain(
      `Late payment: 2.5 TON for invoice ${invoice.id} arrived after the invoice had ended`,
    );
    expect(lines).toMatch(/Webhook failed: 127\.0\.0\.1:\d+: answered HTTP 500; event evt_\w+/);
    expect(lines).toContain('Contradiction between sources: TON: transfer amount, transaction ab');
    expect(textsOf(late)).toEqual([
      expect.stringMatching(
        /^gatewayd: Late payment\n[^\n]+\nWhat to do: gw admin payments --status late, then http\S+\/guides\/run#payments$/,
      ),
    ]);
  });

  test('of what lasts come when it begins, and again when it is back', async () => {
    const target = await receiver();
    const on = ['limit_low', 'backup_old', 'clock_wrong', 'rate_missing'] as const;
    const service = await start([{ to: target.url, on: [...on] }], { database });
    const merchant = await service.merchant();
    await credit(service, merchant.id, 500_000n);
    await changeMeta(service.app.db.query, LAST_BACKUP_AT, String(service.clock.now() - 3 * 86_400));
    await notify(service);
    expect(textsOf(target)).toEqual([
      expect.stringMatching(
        /has 50 USD of sales left[\s\S]*Backup too old: the last backup was made on 20\d\d-.*Z/,
      ),
    ]);
    await changeMeta(service.app.db.query, LAST_BACKUP_AT, String(service.clock.now()));
    for (let hour = 0; hour < 3; hour++) {
      service.clock.advance(HOUR);
      await notify(service);
    }
    expect(target.requests).toHaveLength(1);
    await credit(service, merchant.id, 100_000_000n);
    await notify(service);
    service.clock.step(900);
    await notify(service);
    expect(textsOf(target)[1]).toMatch(/Clock wrong: .*clock was set 900 seconds forward/);
  });

  test('of a disk that is nearly full and of a rate that is missing come from the daemon that has them', async () => {
    onTestFinished(() => {
      Object.assign(disk, { gibibytes: 100, free_share: null });
    });
    const target = await receiver();
    const notified = [{ to: target.url, on: ['disk_low', 'rate_missing'] }] as Target[];
    const settings = { 'rates.source': 'live', demo: false, webhook_allow_private: true };
    const service = await start(notified, { database, settings });
    disk.free_share = 0.06;
    await notify(service);
    expect(target.requests).toEqual([]);
    disk.free_share = 0.04;
    // Rates are given time after a start.
    service.clock.advance(HOUR);
    await notify(service);
    const [text] = textsOf(target);
    expect(text).toMatch(/Disk nearly full: \S+: 4096 MB of disk space are left for \//);
    expect(text).toMatch(
      /No exchange rate: \S+: invoices in SOL are refused: no up-to-date rate that two sources agree on/,
    );
    disk.free_share = 0.5;
    for (let hour = 0; hour < 3; hour++) {
      service.clock.advance(HOUR);
      await notify(service);
    }
    // A small disk is nearly full with a larger share of it free.
    Object.assign(disk, { gibibytes: 8, free_share: 0.1 });
    service.clock.advance(HOUR);
    await notify(service);
    expect(textsOf(target).slice(1)).toEqual([
      expect.stringMatching(/Disk nearly full: \S+: 819 MB of disk space are left/),
    ]);
  });

  test('of a blockchain come when it cannot be read, and when it is read again', async () => {
    verifies('notify');
    const target = await receiver();
    const away = new Set(['ton']);
    const sourceOf = (id: string): RpcSource => ({
      ...silent,
      use: (work) => (away.has(id) ? unreachable.use(work) : silent.use(work)),
    });
    const on = ['blockchain_blind', 'blockchain_back'] as const;
    const service = await start([{ to: target.url, on: [...on] }], { database, source: sourceOf });
    const { app, clock } = service;
    const pass = async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        clock.advance(1);
        for (const id of ['ton', 'solana', 'bitcoin', 'litecoin'])
          if (!away.has(id) || second === 0) await app.observer.poll(id).catch(() => undefined);
        await app.observer.watchReading();
      }
      await notify(service);
    };
    await pass(95);
    const isAway = (name: string) =>
      expect.stringMatching(
        `^gatewayd: Blockchain cannot be read\n.*${name} has not been read since 20.*\nWhat to do: gw admin observers, then \\S+/guides/run#blind$`,
      );
    const isBack = (name: string) =>
      expect.stringMatching(`^gatewayd: Blockchain is read again\n.*: ${name} is read again$`);
    expect(textsOf(target)).toEqual([isAway('TON')]);
    // What happens to another within the hour is a message of its own, and what lasts is not repeated.
    away.add('solana');
    await pass(95);
    expect(textsOf(target).slice(1)).toEqual([isAway('Solana')]);
    away.delete('ton');
    await pass(2);
    expect(textsOf(target).slice(2)).toEqual([isBack('TON')]);
    away.delete('solana');
    await pass(2);
    expect(textsOf(target).slice(3)).toEqual([isBack('Solana')]);
    // The same again within its hour waits for it, and says that it is over.
    away.add('ton');
    await pass(95);
    away.delete('ton');
    await pass(2);
    expect(target.requests).toHaveLength(4);
    clock.advance(HOUR);
    for (const id of ['ton', 'solana', 'bitcoin', 'litecoin']) await app.observer.poll(id);
    await app.observer.watchReading();
    await notify(service);
    expect(textsOf(target).slice(4)).toEqual([
      expect.stringMatching(
        /^gatewayd: Blockchain cannot be read, Blockchain is read again\n.*TON has not been read since .* \(over by now\)\n.*TON is read again$/,
      ),
    ]);
  });

  test('are sent again to who did not take them, and to no one else', async () => {
    verifies('notify');
    const failing = await receiver((index) => (index < 2 ? 503 : 204));
    const taking = await receiver();
    const service = await start([{ to: failing.url }, { to: taking.url }], { database });
    await payUnmatched(service, await fundedMerchant(service));
    await notify(service);
    expect([failing.requests.length, taking.requests.length]).toEqual([1, 1]);
    await notify(service);
    expect(failing.requests).toHaveLength(1);
    service.clock.advance(60);
    await notify(service);
    expect(failing.requests).toHaveLength(2);
    service.clock.advance(60);
    await notify(service);
    expect(failing.requests).toHaveLength(2);
    service.clock.advance(60);
    await notify(service);
    expect(failing.requests).toHaveLength(3);
    const ids = failing.requests.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(1);
    service.clock.advance(HOUR);
    await notify(service);
    expect([failing.requests.length, taking.requests.length]).toEqual([3, 1]);
  });
});

test.runIf(databases.includes('postgres'))('several daemons send one message', async () => {
  verifies('notify');
  const target = await receiver();
  const clock = testClock();
  const first = await start([{ to: target.url }], { database: 'postgres', clock });
  const database_url = first.app.config.database_url;
  const others = await Promise.all(
    [1, 2].map(() => start([{ to: target.url }], { database: 'postgres', clock, database_url })),
  );
  await payUnmatched(first, await fundedMerchant(first));
  for (let round = 0; round < 3; round++) {
    await Promise.all([first, ...others].map(({ app }) => app.notify.tick()));
    clock.advance(10);
  }
  expect(target.requests).toHaveLength(1);
});

describe('a notification', () => {
  test('is a mail, in text and in HTML in which nothing is markup', async () => {
    verifies('notify', 'notice-steps');
    const server = await smtpServer();
    const service = await start([{ to: 'mailto:ops@example.com' }], {
      settings: { smtp_url: server.url, mail_from: 'pay@shop.example.com' },
    });
    await changeMeta(service.app.db.query, LAST_BACKUP_AT, '1');
    await service.app.db.transaction((tx) =>
      noteContradiction(
        tx,
        {
          blockchain: 'ton',
          kind: 'transfer_amount',
          subject: 'one',
          txid: '<b>&"\r\nBcc: victim@example.com',
          invoice_id: null,
          details: {},
        },
        service.clock.now(),
      ),
    );
    await notify(service);
    expect(server.envelopes).toEqual([{ from: 'pay@shop.example.com', to: ['ops@example.com'] }]);
    const mail = (server.mails[0] ?? '').replaceAll('=\r\n', '');
    expect(mail).toContain('Subject: gatewayd: Backup too old, Contradiction between sources');
    expect(mail).toContain('&lt;b');
    expect(mail).toMatch(/What to do: gatewayd backup, then \S+\/guides\/run#backup/);
    expect(mail).not.toMatch(/^Bcc:/m);
  });

  test('is a message of the bot, as plain text; a refusal is logged with what to do and without the token', async () => {
    verifies('notify', 'notice-steps');
    const telegram = await receiver((index) => (index === 0 ? 403 : 200));
    const service = await start([{ to: 'telegram:-100123' }], {
      settings: { 'telegram.api_url': telegram.url },
    });
    await payUnmatched(service, await fundedMerchant(service));
    await notify(service);
    expect(telegram.requests[0]?.path).toBe(`/bot${BOT}/sendMessage`);
    const sent = JSON.parse(telegram.requests[0]?.body ?? '');
    expect(sent).toMatchObject({
      chat_id: '-100123',
      text: expect.stringContaining('• Unmatched payment: 2.5 TON'),
    });
    expect(sent.text).toMatch(
      /\nWhat to do: gw admin payments --status unmatched, then \S+\/guides\/run#payments$/,
    );
    expect(sent).not.toHaveProperty('parse_mode');
    const log = service.log.join('');
    expect(log).toContain('HTTP 403: the bot was blocked, or is not a member of the group');
    expect(log).not.toContain(BOT);
    service.clock.advance(60);
    await notify(service);
    expect(telegram.requests).toHaveLength(2);
  });

  test('follows a chat to the group that it has become, and names that once', async () => {
    verifies('notify');
    const moved = { ok: false, error_code: 400, parameters: { migrate_to_chat_id: -1_009_876 } };
    const telegram = await serve(({ body }, response) =>
      JSON.parse(body).chat_id === '-100123' ? json(response, moved, 400) : json(response, { ok: true }),
    );
    const service = await start([{ to: 'telegram:-100123' }], {
      settings: { 'telegram.api_url': telegram.url },
    });
    const key = await fundedMerchant(service);
    for (let time = 0; time < 2; time++) {
      await payUnmatched(service, key);
      await notify(service);
      service.clock.advance(3_700);
    }
    const sent = telegram.requests.map(({ body }) => JSON.parse(body));
    expect(sent.map(({ chat_id }) => chat_id)).toEqual(['-100123', '-1009876', '-1009876']);
    expect(sent.map(({ text }) => /telegram:-1009876 now: name that in notify/.test(text))).toEqual([
      false,
      true,
      false,
    ]);
  });

  test('waits as long as Telegram asks for', async () => {
    verifies('notify');
    const busy = { ok: false, error_code: 429, parameters: { retry_after: 900 } };
    const telegram = await serve(({ index }, response) =>
      index === 0 ? json(response, busy, 429) : json(response, { ok: true }),
    );
    const service = await start([{ to: 'telegram:-100123' }], {
      settings: { 'telegram.api_url': telegram.url },
    });
    await payUnmatched(service, await fundedMerchant(service));
    await notify(service);
    service.clock.advance(800);
    await notify(service);
    expect(telegram.requests).toHaveLength(1);
    service.clock.advance(100);
    await notify(service);
    expect(telegram.requests).toHaveLength(2);
  });

  test('is JSON that is signed as webhooks are, and goes to public addresses only', async () => {
    verifies('notify');
    const target = await receiver();
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const service = await start([{ to: `${target.url}/hook?key=hidden-in-logs`, secret }]);
    await payUnmatched(service, await fundedMerchant(service));
    await notify(service);
    const [request] = target.requests;
    if (!request) throw new Error('nothing was sent');
    const { headers, body } = request;
    // The clock of tests is not today's: the signature alone is checked.
    const signed = new Webhook(secret).sign(
      String(headers['webhook-id']),
      new Date(Number(headers['webhook-timestamp']) * 1000),
      body,
    );
    expect(headers['webhook-signature']).toBe(signed);
    expect(JSON.parse(body)).toMatchObject({
      type: 'operator.notice',
      data: {
        notices: [
          {
            cause: 'payment_unmatched',
            found_at: expect.any(Number),
            command: 'gw admin payments --status unmatched',
            runbook_url: expect.stringContaining('/guides/run#payments'),
          },
        ],
      },
    });
    expect(service.log.join('')).not.toContain('hidden-in-logs');
    const guarded = await start([{ to: target.url }], { settings: { webhook_allow_private: false } });
    await payUnmatched(guarded, await fundedMerchant(guarded));
    await notify(guarded);
    expect(target.requests).toHaveLength(1);
    expect(guarded.log.join('')).toContain('its host is not public');
  });
});

test('what comes back has an hour for each subject, as what went away has', () => {
  const ends = causes.flatMap(({ name, end }) => (end ? [name, end.name] : []));
  expect(ends).toContain('blockchain_back');
  expect(ends.filter((name) => !causesBySubject.includes(name))).toEqual([]);
});

test('the command sends a test to each target, and says what each answered', async () => {
  verifies('notify');
  const home = makeHome();
  onTestFinished(() => home.remove());
  const none = await home.run(['notify', 'test']);
  expect([none.code, none.stderr]).toEqual([
    78,
    expect.stringContaining('the setting notify names no address'),
  ]);
  const target = await receiver();
  const telegram = await receiver(() => 403);
  const env = {
    GATEWAYD_WEBHOOK_ALLOW_PRIVATE: 'true',
    GATEWAYD_TELEGRAM_BOT_TOKEN: BOT,
    GATEWAYD_TELEGRAM_API_URL: telegram.url,
    GATEWAYD_NOTIFY: JSON.stringify([{ to: `${target.url}/a-key-in-a-path` }, { to: 'telegram:-100123' }]),
  };
  const shown = await home.run(['notify', 'test'], { env });
  expect([shown.code, shown.stdout]).toEqual([
    1,
    `ok      ${target.url}/…\nfailed  telegram:-100123: Telegram answered HTTP 403: the bot was blocked, or is not a member of the group\n`,
  ]);
  const { code, stdout } = await home.run(['notify', 'test', '--json'], {
    env: { ...env, GATEWAYD_NOTIFY: JSON.stringify([{ to: target.url }]) },
  });
  expect([code, JSON.parse(stdout)]).toEqual([
    0,
    { results: [{ to: `${target.url}/…`, ok: true, error: null }] },
  ]);
  expect(JSON.parse(target.requests[0]?.body ?? '')).toMatchObject({ type: 'operator.notice' });
});
