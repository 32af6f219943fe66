// Money that waits for a person: listed with its amount on every terminal, and booked where it is shown.
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { InvoiceRow } from '../../data/schema/tables.ts';
import { ranked } from '../../src/candidates.ts';
import type { Transfer } from '../../src/chains/family.ts';
import { startApp, type TestApp, type TestMerchant } from '../helpers/app.ts';
import { listen } from '../helpers/browser.ts';
import { openContradiction } from '../helpers/contradictions.ts';
import { doubleFamily, namedRpc } from '../helpers/family.ts';
import { serve } from '../helpers/local-server.ts';
import { create, fundedMerchant, observe, transferTo } from '../helpers/payments.ts';
import { sourceOf } from '../helpers/reading.ts';
import { verifies } from '../requirements.ts';
import { type Gw, linesLeft, makeGw, type Pty } from './helpers/gw.ts';

const ENTER = '\r';
const TON = 1_000_000_000n;

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
  doubleFamily('ton').lookUp = async (_, { txid, address_key }) =>
    chain.filter((one) => one.txid === txid && one.address_key === address_key);
});

function open(args: string[], size: { columns: number; rows: number } = { columns: 80, rows: 24 }): Pty {
  const pty = gw.pty(args, { env: { GW_TOKEN: token }, ...size });
  onTestFinished(async () => {
    pty.write('\u0003');
    await pty.ended;
  });
  return pty;
}

it('what it could mean is scored by memo, amount and time, the likeliest first', () => {
  const asked = (id: string, amount: string, memo: string | null, created_at: number) => ({
    ...{ id, amount, memo, created_at },
  });
  const all = [
    asked('far', '9', 'ZZZZZZZZ', 90),
    asked('older', '2', 'ZZZZZZZZ', 10),
    asked('exact', '2.0', 'ZZZZZZZZ', 80),
    asked('slip', '2.5', 'ABCD1234', 20),
    asked('none', '1', null, 100),
  ];
  const scored = ranked(all, { amount: '2', memo: 'abcd1243', at: 100 });
  expect(scored.map(({ id }) => id)).toEqual(['slip', 'exact', 'older', 'none', 'far']);
  expect(scored[0]).toMatchObject({ amount_match: 'under', seconds_apart: 80, memo_distance: 2 });
  expect(scored[1]).toMatchObject({ amount_match: 'exact', memo_distance: 8 });
  expect(scored[3]).toMatchObject({ amount_match: 'over', memo_distance: null });
});

/** A final transfer to the invoice's address that names no invoice. */
async function payNameless(invoice: InvoiceRow, amount_atomic: bigint): Promise<string> {
  const transfer = transferTo(service, invoice, { memo: null, amount_atomic, final: true });
  chain = [...chain, transfer];
  await observe(service, 'ton', [transfer]);
  const [row] = (await list('unmatched')).data.filter(({ txid }: { txid: string }) => txid === transfer.txid);
  return row.id;
}

const list = async (status: string) =>
  (await service.fetch('GET', `/api/v1/admin/payments?status=${status}`, { token })).json;

const short = (id: string) => id.slice(-8);
const markedIn = (frame: string): string => /› (\w{8})/.exec(frame)?.[1] ?? '';

describe('money that waits', () => {
  it('is listed with its amount in 80 columns, on the screen and in a table', async () => {
    verifies('gw-waiting-money');
    const invoice = await create(service, merchant, 'ton');
    const unmatched = await payNameless(invoice, (7n * TON) / 4n);
    const screen = open(['admin', 'payments', '--status', 'unmatched']);
    const frame = await screen.seeFrame((shown) => shown.includes(short(unmatched)));
    expect(frame).toMatch(new RegExp(`${short(unmatched)}  unmatched .* 1\\.75 TON`));
    for (const line of frame.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
    const table = gw.pty(['admin', 'payments', '--status', 'unmatched', '--once'], {
      env: { GW_TOKEN: token },
    });
    expect(await table.ended).toBe(0);
    expect(table.output()).toMatch(new RegExp(`${short(unmatched)}.* 1\\.75 TON`));
  });

  it('stands in one queue with the command that is next', async () => {
    verifies('gw-waiting-money');
    const env = { GW_TOKEN: token };
    const id = await payNameless(await create(service, merchant, 'ton'), (7n * TON) / 4n);
    const { json } = await gw(['admin', 'inbox', '--json'], { env });
    expect(json).toMatchObject({ count: json.data.length, has_more: false });
    expect(json.data).toContainEqual(
      expect.objectContaining({
        kind: 'unmatched',
        id,
        amount: '1.75',
        currency: 'TON',
        next: `gw admin payment ${short(id)}`,
      }),
    );
    const row = json.data.find((one: { id: string }) => one.id === id);
    expect(row.candidates[0]).toMatchObject({
      status: 'created',
      amount: '2.5',
      amount_match: 'under',
      seconds_apart: expect.any(Number),
      memo_distance: null,
      claimed: false,
    });
    const pty = gw.pty(['admin', 'inbox'], { env });
    expect(await pty.ended).toBe(0);
    expect(linesLeft(pty.output()).join('\n')).toMatch(new RegExp(`unmatched +${short(id)} +1\\.75 TON`));
  });

  it('is gone through one by one, each booked by Enter after a preview', async () => {
    verifies('gw-inbox-work');
    const invoice = await create(service, merchant, 'ton', { external_ref: 'sale-77' });
    const id = await payNameless(invoice, BigInt(invoice.amount_atomic));
    const pty = gw.pty(['admin', 'inbox', '--work'], { env: { GW_TOKEN: token }, columns: 120 });
    // Others wait too: they are skipped.
    let place = 1;
    for (await pty.see(/1 of \d+: [^\n]*\n/); !pty.output().includes(short(id)); ) {
      await pty.see(new RegExp(`${place} of \\d+: [\\s\\S]*q ends:`));
      pty.write(`s${ENTER}`);
      place += 1;
      await pty.see(new RegExp(`${place} of \\d+: [^\\n]*\\n`));
    }
    await pty.see(new RegExp(`${place} of \\d+: [\\s\\S]*q ends:`));
    pty.write(`sale-77${ENTER}`);
    await pty.see(/✔[\s\S]*2\.5 TON → sale-77 of [^\n]*fee \$\d[^\n]*limit after \$\d[\s\S]*q ends:/);
    pty.write(ENTER);
    await pty.see(/is confirmed/);
    pty.write(`q${ENTER}`);
    await pty.ended;
    const { payment } = (await service.fetch('GET', `/api/v1/admin/payments/${invoice.id}`, { token })).json;
    expect(payment.status).toBe('confirmed');
    const piped = await gw(['admin', 'inbox', '--work'], { env: { GW_TOKEN: token } });
    expect([piped.code, piped.stderr]).toEqual([2, expect.stringContaining('needs a terminal')]);
  });

  it('has its keys in one line of any width, and all of them behind ?', async () => {
    verifies('gw-inbox-work');
    const env = { GW_TOKEN: token };
    for (const external_ref of ['near-1', 'near-2'])
      await payNameless(await create(service, merchant, 'ton', { external_ref }), 2n * TON);
    const lineIn = (output: string) =>
      linesLeft(output)
        .filter((line) => line.includes('q ends:'))
        .at(-1) ?? '';
    for (const [columns, keys] of [
      [120, ['Enter books it', 'chooses', 'c credits', 'd closes unbooked', 'n notes', 's skips']],
      [80, ['Enter books', ' or order', 'c credits', 'd closes', 'n notes', 's skips']],
      [50, ['Enter books', '? all', 's skips']],
    ] as const) {
      const pty = gw.pty(['admin', 'inbox', '--work'], { env, columns });
      // What could pay several has most keys.
      let place = 1;
      for (await pty.see(/q ends:/); !/^2 {2}\w{8}/m.test(linesLeft(pty.output()).join('\n')); place += 1) {
        pty.write(`s${ENTER}`);
        await pty.see(new RegExp(`\\D${place + 1} of \\d+: [\\s\\S]*q ends:`));
      }
      const line = lineIn(pty.output());
      for (const key of keys) expect(line, `${columns}`).toContain(key);
      expect(line.trimEnd().length, line).toBeLessThan(columns);
      pty.write(`?${ENTER}`);
      await pty.see(/\n {2}d closes unbooked\r\n {2}n notes\r\n[\s\S]*q ends:/);
      pty.write(`q${ENTER}`);
      await pty.ended;
    }
  });

  it('is closed without booking by d with a reason, noted by n, and found all the same', async () => {
    verifies('gw-inbox-work', 'payment-dismiss');
    const env = { GW_TOKEN: token };
    const invoice = await create(service, merchant, 'ton', { external_ref: 'closed-1' });
    const id = await payNameless(invoice, 3n * TON);
    const pty = gw.pty(['admin', 'inbox', '--work'], { env, columns: 120 });
    let place = 1;
    for (await pty.see(/1 of \d+: [^\n]*\n/); !pty.output().includes(short(id)); ) {
      await pty.see(new RegExp(`${place} of \\d+: [\\s\\S]*q ends:`));
      pty.write(`s${ENTER}`);
      place += 1;
      await pty.see(new RegExp(`${place} of \\d+: [^\\n]*\\n`));
    }
    await pty.see(new RegExp(`${place} of \\d+: [\\s\\S]*d closes unbooked, n notes[\\s\\S]*q ends:`));
    pty.write(`n${ENTER}`);
    await pty.see(/note, for the log:/);
    pty.write(`asked the buyer${ENTER}`);
    await pty.see(/noted[\s\S]*q ends:/);
    pty.write(`d${ENTER}`);
    await pty.see(/why, for the log/);
    pty.write(`sent back by hand${ENTER}`);
    await pty.see(/closed: it waits no longer/);
    pty.write('\u0003');
    await pty.ended;
    const { json } = await gw(['admin', 'inbox', '--json', 'id'], { env });
    expect(JSON.stringify(json)).not.toContain(id);
    const card = gw.pty(['admin', 'payment', short(id)], { env, columns: 120 });
    expect(await card.ended).toBe(0);
    expect(linesLeft(card.output()).join('\n')).toMatch(/closed +by operator:.*: sent back by hand/);
    const found = await gw(['explain', short(id), '--json'], { env: { GW_API_KEY: merchant.key } });
    expect(found.json.story.summary).toMatch(/Closed by the operator\.$/);
    const again = await gw(['admin', 'note', short(id), 'no, it was not', '--no-dismissed', '--json'], {
      env,
    });
    expect(again.json.payment.dismissed).toBeNull();
    // What only its merchant is paid at, he closes himself; what a note holds moves no terminal.
    const own = gw.pty(['inbox', '--work'], { env: { GW_API_KEY: merchant.key }, columns: 120 });
    await own.see(/1 of \d+: [\s\S]*n notes[\s\S]*q ends:/);
    own.write(`d${ENTER}`);
    await own.see(/why, for the log/);
    own.write(`private top-up${ENTER}`);
    await own.see(/closed: it waits no longer/);
    own.write('\u0003');
    await own.ended;
    const { data } = await list('dismissed');
    expect(data.map(({ dismissed }: { dismissed: { note: string } }) => dismissed.note)).toContain(
      'private top-up',
    );
    const note = '\u001b[31mred';
    const noted = await gw(['payment', 'note', id, note, '--dismissed'], {
      env: { GW_API_KEY: merchant.key },
    });
    expect([noted.code, noted.stdout]).toEqual([0, expect.not.stringContaining('\u001b')]);
    const story = gw.pty(['explain', id], { env: { GW_API_KEY: merchant.key }, columns: 120 });
    await story.ended;
    expect(story.output()).not.toContain(note);
  });

  it('and what was closed by another meanwhile is not booked', async () => {
    verifies('gw-inbox-work');
    const env = { GW_TOKEN: token };
    const ids: string[] = [];
    for (let each = 0; each < 2; each += 1) {
      const invoice = await create(service, merchant, 'ton');
      await service.fetch('POST', `/v1/invoices/${invoice.id}/cancel`, { key: merchant.key });
      const transfer = transferTo(service, invoice, { final: true });
      chain = [...chain, transfer];
      await observe(service, 'ton', [transfer]);
      ids.push(invoice.id);
    }
    const close = (id: string) =>
      service.fetch('POST', `/api/v1/admin/payments/${id}/note`, {
        token,
        body: { note: 'sent back', dismissed: true },
      });
    const waiting = (await gw(['admin', 'inbox', '--json', 'kind,id'], { env })).json;
    const late = waiting.filter(({ id }: { id: string }) => ids.includes(id));
    expect(late).toHaveLength(2);
    const pty = gw.pty(['admin', 'inbox', '--work'], { env, columns: 120 });
    for (let place = 1; place <= waiting.length; place += 1) {
      const { id } = waiting[place - 1];
      const item = await pty.see(
        new RegExp(`\\D${place} of ${waiting.length}: [\\s\\S]*(q ends:|is done already)`),
      );
      if (item.includes('is done already')) break;
      if (id === late[0].id) {
        // It is shown as waiting already.
        await close(id);
        await close(late[1].id);
        pty.write(ENTER);
        await pty.see(/closed meanwhile by operator:\S+: sent back/);
      }
      pty.write(`s${ENTER}`);
    }
    await pty.see(/is done already/);
    for (const id of ids)
      expect((await service.fetch('GET', `/v1/invoices/${id}`, { key: merchant.key })).json.status).toBe(
        'cancelled',
      );
  });

  it('and what else waits is closed with a note, or sent again, in the same queue', async () => {
    verifies('gw-inbox-work');
    const shop = await fundedMerchant(service);
    let status = 500;
    const receiver = await serve((_, response) => response.writeHead(status).end());
    await service.fetch('PATCH', '/api/v1/merchant/account', {
      token: shop.token,
      body: { webhook_url: receiver.url },
    });
    const invoice = await create(service, shop, 'ton', { external_ref: 'other-things' });
    const contradiction = await openContradiction(service.app.db, { invoice_id: invoice.id });
    const [event] = (await service.fetch('GET', '/api/v1/merchant/events', { token: shop.token })).json.data;
    await service.fetch('POST', `/api/v1/merchant/events/${event.id}/resend`, { token: shop.token });
    status = 200;
    const env = { GW_TOKEN: token };
    const { json } = await gw(['admin', 'inbox', '--json', 'kind,id,events,next'], { env });
    expect(json).toContainEqual(
      expect.objectContaining({ kind: 'webhook', events: [expect.stringMatching(/^evt_/)] }),
    );
    const pty = gw.pty(['admin', 'inbox', '--work'], { env, columns: 120 });
    const seen = new Set<string>();
    for (let place = 1; place <= json.length; place += 1) {
      const output = await pty.see(new RegExp(`\\D${place} of \\d+: [\\s\\S]*q ends:`));
      const item = output.slice(output.search(new RegExp(`\\D${place} of \\d+: `)));
      if (item.includes(short(contradiction))) {
        seen.add('contradiction');
        expect(item).toMatch(/stored atomic 1, read atomic 2/);
        pty.write(ENTER);
        await pty.see(/say why: who reads it later has only the note/);
        pty.write(`the second provider was behind${ENTER}`);
        await pty.see(/it is closed/);
      } else if (item.includes('was not accepted by')) {
        seen.add('webhook');
        pty.write(ENTER);
        await pty.see(/it was accepted/);
      } else pty.write(`s${ENTER}`);
    }
    await pty.see(/That was the last one/);
    expect(seen).toEqual(new Set(['contradiction', 'webhook']));
    expect(receiver.requests.map(({ headers }) => headers['webhook-id'])).toEqual([event.id, event.id]);
    const left = (await gw(['admin', 'inbox', '--json', 'kind,id'], { env })).json;
    expect(left.map(({ kind }: { kind: string }) => kind)).not.toContain('webhook');
    expect(left.map(({ id }: { id: string }) => id)).not.toContain(contradiction);
  });

  it('is booked for an invoice where it is shown', async () => {
    verifies('gw-waiting-money');
    const invoices = [];
    for (let index = 0; index < 6; index += 1)
      invoices.push(await create(service, merchant, 'ton', { external_ref: `order-${index}` }));
    const meant = invoices[2] as InvoiceRow;
    const unmatched = await payNameless(meant, BigInt(meant.amount_atomic));
    const pty = open(['admin', 'payments', '--status', 'unmatched']);
    // Newest first: it is marked.
    await pty.seeFrame((frame) => frame.includes(`› ${short(unmatched)}`));
    pty.write(ENTER);
    const shown = await pty.seeFrame((frame) => frame.includes('could pay'));
    const count = Number(/could pay \(all (\d+)\)/.exec(shown)?.[1]);
    expect(count).toBeGreaterThanOrEqual(6);
    pty.write('r');
    await pty.seeFrame((frame) => frame.includes(`b book it for one of ${count} open invoices`));
    pty.write('b');
    await pty.seeFrame((frame) => frame.includes('enter take it') && /^ {2}\w{8} .*order-\d/m.test(frame));
    for (let mark = ''; mark !== short(meant.id); ) {
      const before = mark;
      await pty.seeFrame((frame) => !['', before].includes(markedIn(frame)));
      mark = markedIn(pty.frame());
      if (mark !== short(meant.id)) pty.write('j');
    }
    pty.write(ENTER);
    await pty.seeFrame((frame) =>
      frame.includes('paid 2.5 of 2.5 TON (exact), 64 confirmations, on the chain'),
    );
    pty.write(short(meant.id) + ENTER);
    await pty.seeFrame((frame) => frame.includes('now confirmed') && frame.includes('order-2'));
    const { json } = await service.fetch('GET', `/api/v1/admin/payments/${meant.id}`, { token });
    expect(json.payment).toMatchObject({ status: 'confirmed', txid: chain.at(-1)?.txid });
  });

  it('is noted, closed, opened again and read again by keys where it is shown, each with its reason', async () => {
    verifies('gw-waiting-money', 'payment-dismiss');
    const invoice = await create(service, merchant, 'ton', { external_ref: 'by-keys' });
    const id = await payNameless(invoice, 3n * TON);
    const pty = open(['admin', 'payments', '--status', 'unmatched'], { columns: 120, rows: 40 });
    await pty.seeFrame((frame) => frame.includes(`› ${short(id)}`));
    pty.write(ENTER);
    await pty.seeFrame((frame) => /r resolve.*n note.*d dismiss/.test(frame));
    pty.write(`n${ENTER}`);
    await pty.seeFrame((frame) => frame.includes('without a reason nothing was done'));
    pty.write('nasked the');
    await pty.seeFrame((frame) => frame.includes('note: why, for the log, then enter: asked the█'));
    // Escape leaves it.
    pty.write('\u001b');
    await pty.seeFrame((frame) => frame.includes('q quit'));
    pty.write(`nasked the buyer${ENTER}`);
    await pty.seeFrame(
      (frame) => frame.includes('noted') && /unmatched +operator:\w{8} .*asked the buyer/.test(frame),
    );
    pty.write(`dsent back by hand${ENTER}`);
    await pty.seeFrame(
      (frame) =>
        frame.includes('closed: it waits no longer') &&
        /closed +by operator:\w{8}, .*sent back by hand/.test(frame),
    );
    expect((await list('unmatched')).data.map((row: { id: string }) => row.id)).not.toContain(id);
    pty.write('d');
    await pty.seeFrame((frame) => frame.includes('reopen: why, for the log, then enter: █'));
    pty.write(`it was another${ENTER}`);
    await pty.seeFrame((frame) => frame.includes('it waits again') && !/closed +by operator/.test(frame));
    expect((await list('unmatched')).data.map((row: { id: string }) => row.id)).toContain(id);
    pty.write('r');
    await pty.seeFrame((frame) => /r recheck/.test(frame) && /b book it for one of \d+ open/.test(frame));
    pty.write('r');
    await pty.seeFrame((frame) => new RegExp(`recheck: .*${short(id)}.*unmatched`).test(frame));
    // What is not to be closed so is refused with the service's words.
    pty.write(`:payments created${ENTER}`);
    await pty.seeFrame((frame) => frame.includes('payments created') && frame.includes('by-keys'));
    pty.write(`/by-keys${ENTER}${ENTER}`);
    await pty.seeFrame((frame) => frame.includes(`payment ${short(invoice.id)}`) && /d dismiss/.test(frame));
    pty.write(`dno${ENTER}`);
    await pty.seeFrame((frame) => frame.includes('dismiss refused: '));
  });

  it('that came late is booked for its invoice where it is shown', async () => {
    verifies('gw-waiting-money');
    const invoice = await create(service, merchant, 'ton', { external_ref: 'late-order' });
    await service.fetch('POST', `/v1/invoices/${invoice.id}/cancel`, { key: merchant.key });
    service.clock.advance(2000);
    const transfer = transferTo(service, invoice, { final: true });
    chain = [...chain, transfer];
    await observe(service, 'ton', [transfer]);
    const pty = open(['admin', 'payments', '--status', 'late']);
    await pty.seeFrame((frame) => /› \w{8} {2}.*late .*2\.5 TON/.test(frame));
    pty.write(ENTER);
    await pty.seeFrame((frame) => frame.includes('late-order') && frame.includes('r resolve'));
    pty.write('rc');
    await pty.seeFrame((frame) => frame.includes('txid that pays it'));
    pty.write(ENTER);
    await pty.seeFrame((frame) => frame.includes(`type ${short(invoice.id)}`));
    pty.write(short(invoice.id) + ENTER);
    await pty.seeFrame((frame) => frame.includes('now confirmed'));
    expect((await list('late')).data).toEqual([]);
  });
});

it('gw admin payment shows candidates, transfers, log and ledger', async () => {
  verifies('gw-waiting-money');
  const invoice = await create(service, merchant, 'ton', { external_ref: 'whole-story' });
  const transfer = transferTo(service, invoice, { final: true });
  await observe(service, 'ton', [transfer]);
  const show = async (id: string) => {
    const pty = gw.pty(['admin', 'payment', id], { env: { GW_TOKEN: token }, columns: 120 });
    expect(await pty.ended).toBe(0);
    return linesLeft(pty.output()).join('\n');
  };
  const paid = await show(invoice.id);
  expect(paid).toMatch(/^.*confirmed {3}2\.5 TON {3}\$10\.00/);
  for (const part of ['whole-story', 'transfers', 'log', 'ledger', 'income', 'events', 'invoice.confirmed'])
    expect(paid).toContain(part);
  expect(paid).not.toContain('{"');
  const unmatched = await payNameless(await create(service, merchant, 'ton', { external_ref: 'maybe' }), TON);
  const open = await show(unmatched);
  expect(open).toMatch(/could pay \(all \d+\)/);
  expect(open).toContain('maybe');
});

it('gw open leads to pages and explorers, printed where nothing can be opened', async () => {
  verifies('gw-open');
  const env = { GW_API_KEY: merchant.key };
  const invoice = await create(service, merchant, 'ton', { external_ref: 'open-me' });
  const transfer = transferTo(service, invoice, { final: true });
  await observe(service, 'ton', [transfer]);
  const url = async (ref: string) => (await gw(['open', ref], { env })).stdout.trim();
  expect(await url('open-me')).toMatch(new RegExp(`/pay/${invoice.id}$`));
  expect(await url(invoice.id.slice(-8))).toBe(await url('open-me'));
  expect(await url(transfer.txid)).toBe(`https://testnet.tonviewer.com/transaction/${transfer.txid}`);
  expect(await url(invoice.address)).toMatch(/^https:\/\/testnet\.tonviewer\.com\/.+/);
  const body = { title: 'Tea', amount_usd: 3, currencies: ['TON'] };
  const unit = await service.fetch('POST', '/api/v1/merchant/units', { token: merchant.token, body });
  expect(await url(unit.json.id.slice(-8))).toBe(unit.json.page_url);
  const none = await gw(['open', 'no-such-thing', '--json'], { env });
  expect([none.code, none.error.error.code]).toEqual([3, 'unknown_reference']);
  for (const external_ref of ['two', 'two']) await create(service, merchant, 'ton', { external_ref });
  const several = await gw(['open', 'two', '--json'], { env });
  expect([several.code, several.error.error.code]).toEqual([2, 'ambiguous_id']);
  expect(several.error.error.candidates).toHaveLength(2);
  const opened = gw.pty(['open', 'open-me'], { env: { ...env, BROWSER: 'true' }, columns: 120 });
  expect(await opened.ended).toBe(0);
  expect(opened.output()).toMatch(/opened http/);
});

it("a person's own names stand for command lines, shadow none and complete", async () => {
  verifies('gw-own-aliases');
  const env = { GW_API_KEY: merchant.key };
  const set = (name: string, line: string) => gw(['config', 'alias', 'set', name, line, '--json']);
  expect((await set('of', "invoice list --external-ref '$1'")).json).toMatchObject({ name: 'of' });
  await create(service, merchant, 'ton', { external_ref: 'an order' });
  const found = await gw(['of', 'an order', '--json', 'external_ref'], { env });
  expect(found.json).toEqual([{ external_ref: 'an order' }]);
  expect((await gw(['of', '--help'])).stdout).toContain('gw invoice list');
  expect((await gw(['of'])).stderr).toContain('needs $1');
  for (const [name, line] of [
    ['invoices', 'unit list'],
    ['help', 'unit list'],
    ['new', 'no such command'],
    ['new', 'of x'],
    ['new', "invoice list --external-ref 'x"],
    ['-x', 'unit list'],
  ] as const)
    expect((await set(name, line)).code, `${name} ${line}`).toBe(2);
  const script = (await gw(['completion', 'bash'])).stdout;
  expect(script).toMatch(/"of"\) found="[^"]*--external-ref/);
  expect(script).toMatch(/""\) found="[^"]* of"/);
  expect((await gw(['config', 'alias', 'list', '--json'])).json).toEqual([
    { name: 'of', command: "invoice list --external-ref '$1'" },
  ]);
  expect((await gw(['config', 'alias', 'unset', 'of'])).code).toBe(0);
  expect((await gw(['of', 'an order'], { env })).stderr).toContain('unknown command');
});

it('a wallet that was set on one blockchain only names no others', async () => {
  const { stdout } = await gw(['wallet', 'set', 'ton', (await create(service, merchant, 'ton')).address], {
    env: { GW_TOKEN: merchant.token },
  });
  expect(stdout).toContain('blockchain\tton');
  expect(stdout).not.toMatch(/^also/m);
});
