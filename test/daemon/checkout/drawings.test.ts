// Public pictures cost what they cost once: who asks again and again, at once or in turn, gets what is drawn already.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openDrawings } from '../../../daemon/checkout/drawings.ts';
import { rest } from '../../../daemon/process/rest.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { verifies } from '../../requirements.ts';

/** Pages and pictures made for one address. */
const SHARE = 5;

describe('the codes of invoices', () => {
  let service: TestApp;
  let merchant: TestMerchant;
  beforeAll(async () => {
    const settings = { trust_proxy: true, 'limits.pages_per_address': String(SHARE) };
    service = await startApp({ single: true, settings });
    merchant = await service.merchant();
  });
  afterAll(() => service.stop());

  async function invoices(count: number): Promise<string[]> {
    const { key } = merchant;
    const made = await Promise.all(
      Array.from({ length: count }, () =>
        service.fetch('POST', '/v1/invoices', { key, body: { chain: 'ton', amount: '5.00' } }),
      ),
    );
    return made.map(({ json }) => json.id);
  }

  /** Each drawing loads the library once. */
  const drawn = async (work: () => Promise<unknown>): Promise<number> => {
    const spy = vi.spyOn(rest, 'qrcode');
    try {
      await work();
      return spy.mock.calls.length;
    } finally {
      spy.mockRestore();
    }
  };

  const ask = (id: string, file: string, from = '203.0.113.1') =>
    service.fetch('GET', `/v1/pay/${id}/${file}`, { headers: { 'x-forwarded-for': from } });

  test.each(['qr.png', 'qr.svg'])('a %s is drawn once for all who ask, at once and later', async (file) => {
    verifies('picture-drawn-once');
    const [id = ''] = await invoices(1);
    const count = await drawn(async () => {
      const answers = await Promise.all(
        Array.from({ length: 300 }, (_, at) => ask(id, file, `203.0.113.${at % 200}`)),
      );
      for (const { status } of answers) expect(status).toBe(200);
      for (let at = 0; at < 50; at++) expect((await ask(id, file)).status).toBe(200);
    });
    expect(count).toBe(1);
  });

  test('one address has a share of those that are drawn for it; others have theirs', async () => {
    verifies('rate-limit-pages');
    const ids = await invoices(SHARE + 1);
    const from = '2001:db8:7:7::1';
    const answers = [];
    for (const id of ids) answers.push(await ask(id, 'qr.png', from));
    expect(answers.map(({ status }) => status)).toEqual([...Array(SHARE).fill(200), 429]);
    expect(answers.at(-1)?.json.code).toBe('rate_limited');
    const wait_seconds = Number(answers.at(-1)?.headers.get('retry-after'));
    expect(wait_seconds).toBe(60 / SHARE);
    const last = ids.at(-1) ?? '';
    // The same /64, and what is drawn already.
    expect((await ask(last, 'qr.png', '2001:db8:7:7:ffff::2')).status).toBe(429);
    expect((await ask(ids[0] ?? '', 'qr.png', from)).status).toBe(200);
    expect((await ask(last, 'qr.png', '2001:db8:7:8::1')).status).toBe(200);
    const [fresh = ''] = await invoices(1);
    service.clock.advance(wait_seconds - 1);
    expect((await ask(fresh, 'qr.png', from)).status).toBe(429);
    service.clock.advance(1);
    expect((await ask(fresh, 'qr.png', from)).status).toBe(200);
  });
});

describe('drawings', () => {
  test('are bounded by their bytes', async () => {
    const drawings = openDrawings<string>(10_000);
    let drawn = 0;
    const draw = async () => {
      drawn++;
      return 'x'.repeat(1_000);
    };
    for (let at = 0; at < 100; at++) await drawings.get(`picture ${at}`, draw);
    expect(drawn).toBe(100);
    await drawings.get('picture 99', draw);
    expect(drawn).toBe(100);
    await drawings.get('picture 0', draw);
    expect(drawn).toBe(101);
  });

  test('that failed or were refused are tried again', async () => {
    const drawings = openDrawings<string>(10_000);
    const failing = () => Promise.reject(new Error('no ink'));
    await expect(drawings.get('one', failing)).rejects.toThrow('no ink');
    const refused = drawings.get(
      'one',
      async () => 'drawn',
      () => {
        throw new Error('not now');
      },
    );
    await expect(refused).rejects.toThrow('not now');
    expect(await drawings.get('one', async () => 'drawn')).toBe('drawn');
  });
});
