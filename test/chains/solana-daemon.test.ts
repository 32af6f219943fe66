// The whole daemon over a Solana node whose index is late, or that cannot deliver: what is paid in time is never late.
import { afterEach, describe, expect, it } from 'vitest';
import type { InvoiceRow } from '../../data/schema/tables.ts';
import { gatewaysOf } from '../../src/chains/gateways.ts';
import { INDEX_MARGIN_SECONDS } from '../../src/chains/solana/listing.ts';
import { startApp, type TestApp, type TestMerchant } from '../helpers/app.ts';
import { databases } from '../helpers/database.ts';
import { create, credit, invoiceRow } from '../helpers/payments.ts';
import { setWallet } from '../helpers/people.ts';
import { sourceOf } from '../helpers/reading.ts';
import { verifies } from '../requirements.ts';
import { createModel, keyOf, type Payment, type SolanaModel, usualPace } from './solana-model.ts';

const START = 1_800_000_000;
const PAUSE_SECONDS = 4;
const CREDIT_MICROS = 1_000_000_000_000n;
const OTHER_WALLET = '2wmVCSfPxGPjrnMMn7rchp4uaeoTqN39mXFC2zhPdri9';
/** After so long past its end, an invoice that no one paid has ended: what a list may leave out, and one reading. */
const ENDED_AFTER_SECONDS = INDEX_MARGIN_SECONDS + PAUSE_SECONDS + 2;

describe.each(databases)('a payment on Solana, on %s', (database) => {
  let test: TestApp;
  let model: SolanaModel;
  afterEach(() => test.stop());

  async function open(pace = usualPace): Promise<void> {
    model = createModel(START, undefined, pace);
    for (const { blockchain, token_contract } of gatewaysOf('testnet'))
      if (blockchain === 'solana' && token_contract) model.addMint(token_contract);
    const source = sourceOf(model.rpc());
    test = await startApp({ database, source: (id) => (id === 'solana' ? source : undefined) });
    test.clock.set(START);
  }

  async function merchantWith(address?: string): Promise<TestMerchant> {
    const merchant = await test.merchant();
    await credit(test, merchant.id, CREDIT_MICROS);
    if (address) await setWallet(test.app, merchant.id, 'solana', address);
    return merchant;
  }

  /** Time passes, and the daemon reads and lets the clock evaluate, as it does on its own; throws where a reading fails. */
  async function pass(seconds = PAUSE_SECONDS): Promise<void> {
    model.now += seconds;
    test.clock.set(model.now);
    await test.app.observer.poll('solana');
    await test.app.observer.tick();
  }

  const invoiceOf = (merchant: TestMerchant, chain = 'solana') => create(test, merchant, chain);
  const statusOf = async ({ id }: InvoiceRow) => (await invoiceRow(test, id)).status;
  const paymentOf = ({ address_key: to, amount_atomic, memo, chain }: InvoiceRow, late = 0): Payment => {
    const mint = gatewaysOf('testnet').find((gateway) => gateway.chain === chain)?.token_contract;
    return {
      to,
      amount: BigInt(amount_atomic),
      memo: memo ?? '',
      listed_after: late,
      ...(mint ? { mint } : {}),
    };
  };
  const passUntil = async (
    time: number,
    { each = async () => {}, seconds = PAUSE_SECONDS }: { each?: () => Promise<void>; seconds?: number } = {},
  ) => {
    while (model.now < time) {
      await pass(seconds);
      await each();
    }
  };

  it.each(['solana', 'solana-usdc'])(
    'in %s that is made in time is confirmed and never late, however late it is listed; unpaid, an invoice ends',
    async (chain) => {
      verifies('end-proved', 'expire-not-while-blind');
      await open();
      const merchant = await merchantWith();
      const unpaid = await invoiceOf(await merchantWith(OTHER_WALLET), chain);
      const forwarded = await invoiceOf(merchant, chain);
      const lagging = await invoiceOf(merchant, chain);
      await passUntil(forwarded.expires_at - 60);
      // The wallet forwards at once, so that it holds the same as before; and the index is late.
      const payment = paymentOf(forwarded, 15);
      model.pay(payment);
      const { mint, amount } = payment;
      model.pay({ from: payment.to, to: keyOf(9, 4), amount, listed_after: 15, ...(mint ? { mint } : {}) });
      await passUntil(lagging.expires_at - 6);
      model.pay(paymentOf(lagging, 200));
      const each = async () => {
        for (const invoice of [forwarded, lagging])
          expect(await statusOf(invoice)).toBeOneOf(['created', 'confirmed']);
      };
      await passUntil(unpaid.expires_at, { each });
      expect(await statusOf(unpaid)).toBe('created');
      await passUntil(unpaid.expires_at + ENDED_AFTER_SECONDS, { each });
      expect(await statusOf(unpaid)).toBe('expired');
      expect(await statusOf(forwarded)).toBe('confirmed');
      expect(await statusOf(lagging)).toBe('created');
      await passUntil(lagging.expires_at + 600, { each, seconds: 20 });
      expect(await statusOf(lagging)).toBe('confirmed');
    },
  );

  it.each([
    [usualPace, 0],
    [{ slot_seconds: 2, final_slots: 1 }, 4],
    [{ slot_seconds: 0.02, final_slots: 1 }, 0],
    // Before Alpenglow: the tip itself is so old.
    [{ slot_seconds: 0.4, final_slots: 32 }, 13],
  ])(
    'that does not come lets its invoice end within one reading of what a list may leave out, at %o',
    async (pace, tip_age) => {
      verifies('end-proved');
      await open(pace);
      const merchant = await merchantWith();
      const busy = await merchantWith(OTHER_WALLET);
      const unpaid = await invoiceOf(merchant);
      const other = await invoiceOf(busy);
      const paid = await invoiceOf(busy);
      // A list made shortly before the end must not put off the one that proves it.
      await passUntil(unpaid.expires_at - 6);
      model.pay(paymentOf(paid));
      await passUntil(unpaid.expires_at, { seconds: 2 });
      const before = model.requests.length;
      const ended: number[] = [];
      for (const invoice of [unpaid, other]) {
        while ((await statusOf(invoice)) !== 'expired' && model.now < invoice.expires_at + 200) await pass(1);
        ended.push(model.now - invoice.expires_at - tip_age);
      }
      expect(Math.max(...ended)).toBeLessThanOrEqual(ENDED_AFTER_SECONDS - PAUSE_SECONDS);
      expect(await statusOf(paid)).toBe('confirmed');
      // One to prove each account, and what the sweep lists meanwhile.
      const listed = model.requests.slice(before).filter((each) => each === 'getSignaturesForAddress').length;
      expect(listed).toBeLessThanOrEqual(10 + tip_age);
    },
  );

  it('to an account that cannot be read waits, open, while others are confirmed; the operator sees why', async () => {
    verifies('account-own-trouble', 'end-proved');
    await open();
    const bad = await merchantWith();
    const good = await merchantWith(OTHER_WALLET);
    const stuck = await invoiceOf(bad);
    const paid = await invoiceOf(good);
    const later = await invoiceOf(good);
    await pass();
    const txid = model.pay({ ...paymentOf(stuck), delivered_after: 600 });
    model.pay(paymentOf(paid));
    await passUntil(START + 40);
    expect(await statusOf(paid)).toBe('confirmed');
    expect(await statusOf(stuck)).toBe('created');
    const { token } = await test.superuser();
    const { json } = await test.fetch('GET', '/api/v1/admin/observers', { token });
    const { observers } = json as { observers: { blockchain: string; accounts_behind: object[] }[] };
    const { accounts_behind } = observers.find(({ blockchain }) => blockchain === 'solana') ?? {};
    expect(accounts_behind).toMatchObject([
      { address_key: stuck.address_key, trouble: `transaction ${txid} is listed, but not delivered` },
    ]);
    await passUntil(stuck.expires_at - PAUSE_SECONDS);
    model.pay(paymentOf(later));
    await passUntil(stuck.expires_at + 100);
    expect(await statusOf(later)).toBe('confirmed');
    expect(await statusOf(stuck)).toBe('created');
    await passUntil(START + 1_300, { seconds: 20 });
    expect(await statusOf(stuck)).toBe('confirmed');
  });

  it('is confirmed within one reading although a stranger sends dust to another account', async () => {
    verifies('account-own-trouble');
    await open();
    const dusted = await merchantWith();
    const good = await merchantWith(OTHER_WALLET);
    const waiting = await invoiceOf(dusted);
    const paid = await invoiceOf(good);
    await pass();
    for (let at = 0; at < 1_500; at++) model.pay({ to: waiting.address_key, amount: 1n });
    model.pay(paymentOf(paid));
    const before = model.requests.length;
    await pass();
    expect(model.requests.length - before).toBeLessThan(50);
    expect((await invoiceRow(test, paid.id)).received_atomic).toBe(paid.amount_atomic);
    await pass(20);
    expect(await statusOf(paid)).toBe('confirmed');
  });
});
