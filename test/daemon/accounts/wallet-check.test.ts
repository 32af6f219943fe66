// Addresses that are no wallets are refused when they are set, or as soon as the chain can be asked; on both databases.
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { putProofs } from '../../../data/proofs.ts';
import type { Blockchain } from '../../../src/chains/catalogue.ts';
import { findBlockchain } from '../../../src/chains/gateways.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';
import { doubleFamily, namedRpc } from '../../helpers/family.ts';
import { fundedMerchant } from '../../helpers/payments.ts';
import { wallets } from '../../helpers/people.ts';
import { sourceOf, unreachable } from '../../helpers/reading.ts';
import { verifies } from '../../requirements.ts';

const REASON = 'is a jetton wallet, not a wallet';
let serial = 40;
const newAddress = (): string => `0:${String(++serial).repeat(32)}`;

describe.each(databases)('a wallet on %s', (database) => {
  const reachable = sourceOf(namedRpc('double'));
  let source = reachable;
  let service: TestApp;
  let operator: { token: string };
  beforeAll(async () => {
    const delegate = { ...reachable };
    delegate.use = (work) => source.use(work);
    service = await startApp({
      single: true,
      database,
      source: (id) => (id === 'ton' ? delegate : undefined),
    });
    operator = await service.superuser();
  });
  afterAll(() => service.stop());
  beforeEach(() => {
    source = reachable;
  });

  /** The chain knows these addresses to be no wallets; returns whom it was asked about. */
  function chainWith(...refused: string[]): string[] {
    const asked: string[] = [];
    doubleFamily('ton').inspectAddress = async (_, address_key) => {
      asked.push(address_key);
      return refused.includes(address_key) ? REASON : null;
    };
    return asked;
  }
  async function newcomer(): Promise<TestMerchant> {
    const merchant = await fundedMerchant(service);
    return merchant;
  }
  const set = ({ token }: TestMerchant, address: string) =>
    service.fetch('PUT', '/api/v1/merchant/wallets', { token, body: { blockchain: 'ton', address } });
  const setRefill = (address: string) =>
    service.fetch('PUT', '/api/v1/admin/refill-wallets', {
      token: operator.token,
      body: { chain: 'ton', address },
    });
  const ask = ({ key }: TestMerchant) =>
    service.fetch('POST', '/v1/invoices', { key, body: { chain: 'ton', amount: '10' } });
  const refill = ({ token }: TestMerchant) =>
    service.fetch('POST', '/api/v1/merchant/refill', { token, body: { chain: 'ton', amount: '10' } });
  const walletOf = async ({ token }: TestMerchant) => {
    const { json } = await service.fetch('GET', '/api/v1/merchant/wallets', { token });
    return json.wallets.find(({ blockchain }: { blockchain: string }) => blockchain === 'ton').address;
  };

  test('that is none by the word of the chain is refused, and the one before stays', async () => {
    verifies('address-no-wallet');
    const merchant = await newcomer();
    const [before, address] = [await walletOf(merchant), newAddress()];
    chainWith(address);
    const { status, json } = await set(merchant, address);
    expect([status, json.code]).toEqual([400, 'invalid_address']);
    expect(json.detail).toContain(REASON);
    expect(await walletOf(merchant)).toBe(before);
    expect((await set(merchant, newAddress())).status).toBe(200);
  });

  test('of the operator is refused like any other', async () => {
    verifies('address-no-wallet');
    const address = newAddress();
    chainWith(address);
    const { status, json } = await setRefill(address);
    expect([status, json.code]).toEqual([400, 'invalid_address']);
    expect(json.detail).toContain(REASON);
    expect((await setRefill(newAddress())).status).toBe(200);
  });

  test('is taken while the chain cannot be asked, and takes no invoices once it can', async () => {
    verifies('address-no-wallet');
    const [merchant, honest] = [await newcomer(), await newcomer()];
    const [address, refill_address, wallet] = [newAddress(), newAddress(), newAddress()];
    source = unreachable;
    const taken = [await set(merchant, address), await set(honest, wallet), await setRefill(refill_address)];
    expect(taken.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await ask(merchant)).status).toBe(200);
    source = reachable;
    const asked = chainWith(address, refill_address);
    service.clock.advance(10);
    for (const reply of [await ask(merchant), await ask(merchant)]) {
      expect([reply.status, reply.json.code, reply.json.blockchain]).toEqual([400, 'no_wallet', 'ton']);
      expect(reply.json.detail).toContain(REASON);
    }
    const refused = await refill(honest);
    expect([refused.status, refused.json.code]).toEqual([400, 'no_wallet']);
    expect(refused.json.detail).toContain(REASON);
    for (let each = 0; each < 3; each++) expect((await ask(honest)).status).toBe(200);
    // Each address was asked about once.
    expect(asked.toSorted()).toEqual([address, refill_address, wallet].toSorted());
  });

  test('of which nothing can be read is asked about again, even long after it was set', async () => {
    verifies('address-no-wallet');
    const [merchant, unlucky] = [await newcomer(), await newcomer()];
    const [address, busy] = [newAddress(), newAddress()];
    chainWith();
    await set(merchant, address);
    await set(unlucky, busy);
    service.clock.advance(120);
    const proof = { chain: 'ton', read_through: null, trouble: 'cannot be read', failed: true };
    await service.app.db.transaction((tx) =>
      putProofs(
        tx,
        'ton',
        [address, busy].map((address_key) => ({ ...proof, address_key, account: address_key })),
        service.clock.now(),
      ),
    );
    const asked = chainWith(address);
    expect((await ask(merchant)).json.code).toBe('no_wallet');
    expect((await ask(unlucky)).status).toBe(200);
    expect(asked).toEqual([address, busy]);
  });

  test('that its owner should know something of is set, and every blockchain says it', async () => {
    verifies('wallet-warned');
    const merchant = await newcomer();
    const { family } = findBlockchain('ton') as Blockchain;
    family.warnOfAddress = async (_, address_key, network) => `${network} ${address_key} runs code.`;
    onTestFinished(() => {
      delete family.warnOfAddress;
    });
    chainWith();
    const address = newAddress();
    const { status, json } = await set(merchant, address);
    expect([status, json.warning]).toEqual([200, `testnet ${address} runs code.`]);
    const refill = await setRefill(address);
    expect([refill.status, refill.json.warning]).toEqual([200, `testnet ${address} runs code.`]);
    expect((await setRefill('')).json.warning).toBeNull();
    source = unreachable;
    const unknown = await set(merchant, address);
    expect([unknown.status, unknown.json.warning]).toEqual([200, null]);
  });

  test('of a chain where every address is one is asked about nowhere', async () => {
    const merchant = await newcomer();
    const asked = chainWith();
    const body = { blockchain: 'bitcoin', address: wallets.bitcoin };
    const { status } = await service.fetch('PUT', '/api/v1/merchant/wallets', {
      token: merchant.token,
      body,
    });
    expect([status, asked]).toEqual([200, []]);
  });
});
