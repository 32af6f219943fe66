// Booking by hand with gw: what the chain has is shown before it is asked for, on the command line and on the screen.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { InvoiceRow } from '../../data/schema/tables.ts';
import type { Transfer } from '../../src/chains/family.ts';
import { startApp, type TestApp, type TestMerchant } from '../helpers/app.ts';
import { listen } from '../helpers/browser.ts';
import { doubleFamily, namedRpc } from '../helpers/family.ts';
import { create as createFor, fundedMerchant, newTxid, transferTo } from '../helpers/payments.ts';
import { sourceOf } from '../helpers/reading.ts';
import { verifies } from '../requirements.ts';
import { type Gw, makeGw, type Pty } from './helpers/gw.ts';

const TON = 1_000_000_000n;
const ENTER = '\r';

let service: TestApp;
let serving: Awaited<ReturnType<typeof listen>>;
let merchant: TestMerchant;
let token: string;
let gw: Gw;
let chain: Transfer[] = [];

beforeAll(async () => {
  const source = sourceOf(namedRpc('double'));
  service = await startApp({ source: (id) => (id === 'ton' ? source : undefined) });
  serving = await listen(service);
  merchant = await fundedMerchant(service);
  ({ token } = await service.superuser());
  gw = makeGw(serving.url);
});
afterAll(async () => {
  gw.remove();
  await serving.stop();
  await service.stop();
});
beforeEach(() => {
  chain = [];
  doubleFamily('ton').lookUp = async (_, { txid, address_key }) =>
    chain.filter((one) => one.txid === txid && one.address_key === address_key);
});

/** An invoice of 2.5 TON. */
const create = (): Promise<InvoiceRow> => createFor(service, merchant, 'ton');
const env = () => ({ GW_TOKEN: token });
const incomeOf = ({ id }: InvoiceRow) =>
  service.app.db.query.selectFrom('income').select('amount_atomic').where('invoice_id', '=', id).execute();
const detailOf = async ({ id }: InvoiceRow) =>
  (await service.fetch('GET', `/api/v1/admin/payments/${id}`, { token })).json;

describe('gw admin resolve', () => {
  const resolve = (id: string, ...args: string[]) =>
    gw(['admin', 'resolve', id, 'confirm', ...args], { env: env() });

  it('shows what the transaction paid, and books that', async () => {
    verifies('resolve-looks-up');
    const invoice = await create();
    chain = [transferTo(service, invoice, { memo: null, amount_atomic: 2n * TON })];
    const txid = chain[0]?.txid ?? '';
    const ran = await resolve(invoice.id, '--txid', txid, '--yes');
    expect([ran.code, ran.stderr]).toEqual([
      0,
      expect.stringContaining('paid 2 of 2.5 TON (under), 64 confirmations, on the chain'),
    ]);
    expect(await incomeOf(invoice)).toEqual([{ amount_atomic: String(2n * TON) }]);
    const other = await create();
    const again = await resolve(other.id, '--txid', txid, '--yes', '--json');
    expect([again.code, again.error.error.code]).toEqual([4, 'transfer_booked']);
  });

  it('says that it changed nothing where it did not, and writes nothing into the log', async () => {
    verifies('resolve-unchanged');
    const invoice = await create();
    chain = [transferTo(service, invoice, { memo: null })];
    const booked = chain[0]?.txid ?? '';
    expect((await resolve(invoice.id, '--txid', booked, '--yes')).stderr).not.toContain(
      'Nothing was changed',
    );
    const { logs } = await detailOf(invoice);
    const other = newTxid();
    const again = await resolve(invoice.id, '--txid', other, '--force', '--note', 'twice', '--yes');
    expect(again.code).toBe(0);
    expect(again.stderr).toContain(
      `Nothing was changed: the invoice was confirmed before, paid by ${booked}; ${other} was not booked for it`,
    );
    expect((await detailOf(invoice)).logs).toEqual(logs);
  });

  it('refuses what the chain does not have, and says how to book it all the same', async () => {
    verifies('resolve-looks-up');
    const invoice = await create();
    const txid = newTxid();
    const refused = await resolve(invoice.id, '--txid', txid, '--yes', '--json');
    expect([refused.code, refused.error.error.code]).toEqual([4, 'transaction_unknown']);
    expect(JSON.stringify(refused.error)).toContain('force');
    expect((await resolve(invoice.id, '--txid', txid, '--force', '--yes')).code).not.toBe(0);
    expect(await incomeOf(invoice)).toEqual([]);
    const forced = await resolve(invoice.id, '--txid', txid, '--force', '--note', 'seen', '--yes', '--json');
    expect(forced.code).toBe(0);
    expect(forced.json.invoice).toMatchObject({ status: 'confirmed', txid });
    expect(forced.json.logs.at(-1).note).toBe('confirmed by the operator: seen');
  });
});

describe('the screen of payments', () => {
  /** Opens the invoice, which is the newest, and asks for a confirmation by this transaction. */
  async function confirm(invoice: InvoiceRow, txid: string): Promise<Pty> {
    const pty = gw.pty(['admin', 'payments'], { env: env(), columns: 140, rows: 40 });
    await pty.see(new RegExp(invoice.id.slice(-8)));
    pty.write(ENTER);
    await pty.seeFrame((frame) => frame.includes(invoice.id) && frame.includes('r resolve'));
    pty.write('r');
    await pty.seeFrame((frame) => frame.includes('c confirm'));
    pty.write('c');
    await pty.see(/txid that pays it/);
    if (txid !== '') {
      pty.write(txid);
      await pty.see(new RegExp(`${txid.slice(-8)}█`));
    }
    pty.write(ENTER);
    return pty;
  }
  async function typeId(pty: Pty, invoice: InvoiceRow): Promise<void> {
    const short = invoice.id.slice(-8);
    await pty.see(new RegExp(`type ${short}, then enter`));
    pty.write(short);
    await pty.see(new RegExp(`${short}█`));
    pty.write(ENTER);
  }
  async function giveReason(pty: Pty, reason: string): Promise<void> {
    await pty.see(/why it is to be booked anyway/);
    pty.write(reason);
    await pty.see(new RegExp(`${reason}█`));
    pty.write(ENTER);
  }
  async function leave(pty: Pty): Promise<void> {
    await pty.see(/now confirmed/);
    pty.write('q');
    expect(await pty.ended).toBe(0);
  }

  it('shows what the transaction paid before the id is asked for', async () => {
    verifies('resolve-looks-up');
    service.clock.advance(1);
    const invoice = await create();
    chain = [transferTo(service, invoice, { memo: null, amount_atomic: 2n * TON })];
    const pty = await confirm(invoice, chain[0]?.txid ?? '');
    await pty.see(/paid 2 of 2\.5 TON \(under\), 64 confirmations, on the chain/);
    await typeId(pty, invoice);
    await leave(pty);
    expect(await incomeOf(invoice)).toEqual([{ amount_atomic: String(2n * TON) }]);
  });

  it('asks why what the chain does not have is booked all the same', async () => {
    verifies('resolve-looks-up');
    service.clock.advance(1);
    const invoice = await create();
    const txid = newTxid();
    const pty = await confirm(invoice, txid);
    await pty.see(/the chain has no transaction/);
    await giveReason(pty, 'seen elsewhere');
    await typeId(pty, invoice);
    await leave(pty);
    const { logs } = await detailOf(invoice);
    expect(logs.at(-1).note).toBe('confirmed by the operator: seen elsewhere');
  });

  it('asks why as well where no transaction is named and nothing has come', async () => {
    verifies('resolve-looks-up');
    service.clock.advance(1);
    const invoice = await create();
    const pty = await confirm(invoice, '');
    await typeId(pty, invoice);
    await pty.see(/confirm refused/);
    expect(await incomeOf(invoice)).toEqual([]);
    await giveReason(pty, 'paid in cash');
    await pty.see(/type \w+, then enter: █/);
    pty.write(invoice.id.slice(-8));
    await pty.see(/paid in cash/);
    pty.write(ENTER);
    await leave(pty);
    expect(await incomeOf(invoice)).toEqual([{ amount_atomic: invoice.amount_atomic }]);
  });
});
