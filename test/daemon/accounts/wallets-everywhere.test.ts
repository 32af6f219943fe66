// One address for all networks that have the same addresses: set on all that are enabled, or on none.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { verifies } from '../../requirements.ts';

const ADDRESS = '0x8ba1f109551bD432803012645Ac136ddd64DBA72';
const MISSPELT = '0x8ba1f109551bD432803012645Ac136ddd64DBa72';

describe.each(databases)('a wallet on all networks of its kind, on %s', (database) => {
  let service: TestApp;
  let merchant: TestMerchant;
  beforeAll(async () => {
    const names = ['ethereum-usdc', 'base-usdc', 'polygon-usdc', 'tron-usdt'];
    const settings = Object.fromEntries(names.map((name) => [`gateways.${name}.enabled`, true]));
    service = await startApp({ database, settings });
    merchant = await service.merchant();
  });
  afterAll(() => service.stop());

  const set = (body: object) =>
    service.fetch('PUT', '/api/v1/merchant/wallets', { token: merchant.token, body });
  const held = async (): Promise<Record<string, string>> => {
    const { json } = await service.fetch('GET', '/api/v1/merchant/wallets', { token: merchant.token });
    return Object.fromEntries(
      json.wallets.map(({ blockchain, address }: Record<string, string>) => [blockchain, address]),
    );
  };

  test('is set where it is asked for, and everywhere only when asked', async () => {
    verifies('wallet-everywhere');
    const before = await held();
    const alone = await set({ blockchain: 'base', address: ADDRESS.toLowerCase() });
    expect([alone.status, alone.json.address, alone.json.also]).toEqual([200, ADDRESS, []]);
    expect(await held()).toEqual({ ...before, base: ADDRESS });
    const all = await set({ blockchain: 'ethereum', address: ADDRESS, everywhere: true });
    expect([all.status, all.json.blockchain, all.json.also]).toEqual([200, 'ethereum', ['base', 'polygon']]);
    expect(await held()).toEqual({ ...before, ethereum: ADDRESS, base: ADDRESS, polygon: ADDRESS });
  });

  test('is on none where it is refused, and alone where no other has such addresses', async () => {
    verifies('wallet-everywhere');
    const before = await held();
    const refused = await set({ blockchain: 'polygon', address: MISSPELT, everywhere: true });
    expect([refused.status, refused.json.code]).toEqual([400, 'invalid_address']);
    expect(refused.json.detail).toContain('checksum');
    expect(await held()).toEqual(before);
    const ton = await set({ blockchain: 'ton', address: `0:${'42'.repeat(32)}`, everywhere: true });
    expect([ton.status, ton.json.also]).toEqual([200, []]);
    expect(Object.keys(await held())).toEqual(Object.keys(before));
  });
});
