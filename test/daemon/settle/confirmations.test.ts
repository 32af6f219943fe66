// Confirmations by the value of an invoice, as they are set, waited for and shown; on both databases.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../../daemon/settings/config.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import {
  create,
  fundedMerchant,
  invoiceRow,
  observe,
  transferTo,
  unconfirmed,
} from '../../helpers/payments.ts';
import { verifies } from '../../requirements.ts';

const STEPS = [{ below_usd: 1000, blocks: 1 }, { blocks: 3 }];
const NAME = 'blockchains.litecoin.confirmations';

describe('the setting', () => {
  const load = (flags: Record<string, string>, file?: string) =>
    loadConfig({ env: { XDG_STATE_HOME: '/state' }, cwd: '/nowhere', flags, file });

  test('is a list in the file, and the same as JSON in a flag or variable', () => {
    verifies('confirmations-by-value');
    const dir = mkdtempSync(join(tmpdir(), 'gatewayd-confirmations-'));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const file = join(dir, 'settings.json');
    writeFileSync(file, JSON.stringify({ blockchains: { litecoin: { confirmations: STEPS } } }));
    const wanted = [{ below_usd: '1000', blocks: 1 }, { blocks: 3 }];
    const { config, origins } = load({}, file);
    expect(config.blockchains.litecoin?.confirmations).toEqual(wanted);
    expect(origins.get(NAME)?.label).toBe(file);
    expect(load({ [NAME]: JSON.stringify(STEPS) }).config.blockchains.litecoin?.confirmations).toEqual(
      wanted,
    );
    expect(load({}).config.blockchains.litecoin?.confirmations).toBeUndefined();
  });

  test.each([
    ['1000:1,3', 'must be a list like'],
    ['[{"blocks":3},{"blocks":1}]', 'step 1: below_usd is missing'],
    ['[{"below_usd":10,"blocks":3},{"blocks":1}]', 'step 2: blocks must not fall'],
  ])('%s is refused with its name and what is expected', (text, why) => {
    verifies('confirmations-by-value');
    expect(() => load({ [NAME]: text })).toThrow(`${NAME} (--blockchains-litecoin-confirmations): ${why}`);
  });
});

describe('seconds in the settings', () => {
  const load = (flags: Record<string, string>) =>
    loadConfig({ env: { XDG_STATE_HOME: '/state' }, cwd: '/nowhere', flags });

  test('are a depth of gateways and of steps where time is counted', () => {
    verifies('confirmations-by-value', 'steps-by-default');
    const steps = [{ below_usd: '50', seconds: 10 }, { until: 'finalized' }];
    const { config } = load({
      'gateways.base.confirm_seconds': '60',
      'blockchains.polygon.confirmations': JSON.stringify(steps),
    });
    expect(config.gateways.base?.confirm_seconds).toBe(60);
    expect(config.blockchains.polygon?.confirmations).toEqual(steps);
  });

  test.each([
    [{ 'gateways.litecoin.confirm_seconds': '60' }, 'gateways.litecoin.confirm_seconds'],
    [{ 'gateways.ton.confirm_seconds': '60' }, 'gateways.ton.confirm_seconds'],
    [{ 'blockchains.bitcoin.confirmations': '[{"seconds":600}]' }, 'blockchains.bitcoin.confirmations'],
    [{ 'blockchains.solana.confirmations': '[{"until":"finalized"}]' }, 'blockchains.solana.confirmations'],
  ] as const)('are refused where only blocks are counted: %j', (flags, name) => {
    verifies('confirmations-by-value');
    expect(() => load(flags)).toThrow(new RegExp(`${name} .*: only blocks are counted on`));
  });

  test('and blocks for one gateway are refused together', () => {
    const flags = { 'gateways.base.confirm_seconds': '60', 'gateways.base.min_confirmations': '3' };
    expect(() => load(flags)).toThrow(/gateways\.base\.confirm_seconds .*two measures/);
  });
});

describe.each(databases)('invoices on %s', (database) => {
  let service: TestApp;
  let merchant: TestMerchant;
  beforeAll(async () => {
    service = await startApp({ database, settings: { [NAME]: JSON.stringify(STEPS) } });
    merchant = await fundedMerchant(service);
  });
  afterAll(() => service.stop());

  const status = async (id: string) => (await invoiceRow(service, id)).status;
  const shown = async (id: string) => (await service.fetch('GET', `/v1/invoices/${id}/payment`)).json.payment;

  test('below the bound wait for one block, at it for three, and say so', async () => {
    verifies('confirmations-by-value');
    const [small, large] = [
      await create(service, merchant, 'litecoin', { amount: '999.99' }),
      await create(service, merchant, 'litecoin', { amount: '1000' }),
    ];
    const payments = [transferTo(service, small, unconfirmed), transferTo(service, large, unconfirmed)];
    await observe(service, 'litecoin', payments);
    const mined = (confirmations: number) =>
      payments.map((each) => ({ ...each, height: 5, block_hash: 'block', confirmations }));
    expect((await shown(small.id)).min_confirmations).toBe(1);
    expect((await shown(large.id)).min_confirmations).toBe(3);
    await observe(service, 'litecoin', mined(1));
    expect([await status(small.id), await status(large.id)]).toEqual(['confirmed', 'created']);
    const page = await service.fetch('GET', `/pay/${large.id}`);
    expect(page.text).toMatch(/Confirmations: 1 of 3/);
    await observe(service, 'litecoin', mined(2));
    expect(await status(large.id)).toBe('created');
    await observe(service, 'litecoin', mined(3));
    expect(await status(large.id)).toBe('confirmed');
  });

  test('of a gateway are listed by value', async () => {
    const { json } = await service.fetch('GET', '/v1/gateways');
    const find = (id: string) => json.data.find(({ chain }: { chain: string }) => chain === id);
    expect(find('litecoin')).toMatchObject({
      min_confirmations: 3,
      confirmations: [
        { below_usd: '1000', blocks: 1 },
        { below_usd: null, blocks: 3 },
      ],
    });
    expect(find('bitcoin')).toMatchObject({ min_confirmations: 1, confirmations: [] });
  });
});
