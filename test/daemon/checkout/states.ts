// An invoice in each state that the pages have words for, brought there the way it happens.

import { apply } from '../../../daemon/settle/settle.ts';
import { type CheckoutState, checkoutStates } from '../../../src/checkout.ts';
import type { TestApp, TestMerchant } from '../../helpers/app.ts';
import {
  create,
  credit,
  follow,
  invoiceRow,
  observe,
  readThrough,
  transferTo,
  unconfirmed,
} from '../../helpers/payments.ts';
import { ask } from '../../helpers/service.ts';

/** Enough prepaid for every invoice of these tests, in millionths of a USD. */
const CREDIT_MICROS = 100_000_000n;

export interface StatesWorld {
  test: TestApp;
  merchant: TestMerchant;
  /** What every invoice says besides. */
  order?: Record<string, unknown>;
}

/** An invoice id for each state. The clock is moved on by it. */
export async function everyState(world: StatesWorld): Promise<Record<CheckoutState, string>> {
  const ids = {} as Record<CheckoutState, string>;
  // What ends by the clock comes first; the open ones are made afterwards, so that their time is not up.
  const order = [...checkoutStates].sort((a, b) => rank(a) - rank(b));
  for (const state of order) ids[state] = await makers[state](world);
  return ids;
}

const rank = (state: CheckoutState): number =>
  ['expired', 'late', 'incomplete', 'processing'].includes(state) ? 0 : state === 'closing' ? 1 : 2;

const makers: Record<CheckoutState, (world: StatesWorld) => Promise<string>> = {
  waiting: (world) => createInvoice(world),
  async closing(world) {
    const id = await createInvoice(world);
    world.test.clock.advance(400);
    return id;
  },
  async orphaned(world) {
    const id = await createInvoice(world);
    const { test } = world;
    const transfer = transferTo(test, await invoiceRow(test, id), unconfirmed);
    await observe(test, 'solana', [transfer]);
    const gone = { confirmations: 0, height: null, block_hash: null };
    await follow(test, 'solana', [{ txid: transfer.txid, index: '0', state: 'gone', ...gone }]);
    return id;
  },
  underpaid: (world) => paid(world, (amount) => (amount * 2n) / 5n),
  async seen(world) {
    const { test } = world;
    const id = await createInvoice(world);
    const row = await invoiceRow(test, id);
    await observe(test, 'solana', [transferTo(test, row, { confirmations: 3 })]);
    return id;
  },
  /** Of another merchant, without credit: it must not be booked by the credit of the others. */
  async processing({ test, order }) {
    return paid({ test, order, merchant: await test.merchant() }, (amount) => amount);
  },
  async confirmed(world) {
    await credit(world.test, world.merchant.id, CREDIT_MICROS);
    return paid(world, (amount) => amount);
  },
  overpaid: (world) => paid(world, (amount) => amount + 1_250_000n),
  async expired(world) {
    const id = await createInvoice(world);
    world.test.clock.advance(400);
    await readThrough(world.test, 'solana');
    return id;
  },
  async cancelled(world) {
    const id = await createInvoice(world);
    await apply(world.test.app, id, { fact: { kind: 'cancel' }, actor: 'buyer' });
    return id;
  },
  async failed(world) {
    const id = await createInvoice(world);
    await apply(world.test.app, id, { fact: { kind: 'resolve', action: 'fail' }, actor: 'operator:test' });
    return id;
  },
  async late(world) {
    const { test } = world;
    const id = await makers.expired(world);
    await observe(test, 'solana', [transferTo(test, await invoiceRow(test, id))]);
    return id;
  },
  async incomplete(world) {
    const id = await makers.underpaid(world);
    world.test.clock.advance(400);
    await readThrough(world.test, 'solana');
    return id;
  },
};

/** USDC on Solana by default. */
export async function createInvoice(
  { test, merchant, order }: StatesWorld,
  body: Record<string, unknown> = {},
): Promise<string> {
  const asked = { amount: '12.50', external_ref: 'order-1042', ...order, ...body };
  return (await create(test, merchant, 'solana-usdc', asked)).id;
}

/** An invoice with one final transfer of some part of its amount. */
async function paid(world: StatesWorld, part: (amount: bigint) => bigint): Promise<string> {
  const { test } = world;
  const id = await createInvoice(world);
  const row = await invoiceRow(test, id);
  await observe(test, 'solana', [transferTo(test, row, { amount_atomic: part(BigInt(row.amount_atomic)) })]);
  return id;
}

export interface TestUnit {
  id: string;
  slug: string;
  merchant_slug: string;
}

/** A unit that takes everything. */
export async function createUnit(
  { test, merchant }: StatesWorld,
  body: Record<string, unknown> = {},
): Promise<TestUnit> {
  return ask(test, 'POST', '/api/v1/merchant/units', {
    token: merchant.token,
    body: {
      title: 'Ethiopian coffee, 1 kg',
      description: 'Roasted on Tuesdays, sent the same day.',
      amount_usd: '24.00',
      currencies: ['TON', 'USDT', 'USDC', 'SOL', 'BTC', 'LTC'],
      ...body,
    },
  });
}
