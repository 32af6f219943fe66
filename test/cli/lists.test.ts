// Lists that say what they leave out, searched and cut by time; and ids as short as they are shown.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serviceAt } from '../helpers/service.ts';
import { verifies } from '../requirements.ts';
import { type Gw, linesLeft } from './helpers/gw.ts';
import { logInOperator, openStage, type Stage } from './helpers/stage.ts';

const MADE = 23;

let stage: Stage;
let gw: Gw;
let operator: Gw;
const ids: string[] = [];

beforeAll(async () => {
  stage = await openStage('lists@example.com');
  ({ gw, other: operator } = stage);
  await logInOperator(operator);
  const { json: account } = await gw(['account', 'get', '--json', 'api_key']);
  const service = serviceAt({ base_url: stage.daemon_url });
  for (let index = 0; index < MADE; index += 1) {
    const body = { chain: 'ton', amount: String(100 + index), external_ref: `order-${index}` };
    ids.push((await service.fetch('POST', '/v1/invoices', { key: account.api_key, body })).json.id);
  }
});
afterAll(() => stage.close());

const onTerminal = async (of: Gw, args: string[]): Promise<string> => {
  const pty = of.pty(args, { columns: 100 });
  expect(await pty.ended, pty.output()).toBe(0);
  return linesLeft(pty.output()).join('\n');
};
const at = (index: number): string => ids[index] as string;
const rowsIn = (text: string): number => text.split('\n').filter((line) => /order-\d/.test(line)).length;

describe('a list', () => {
  it('ends with how many there are besides, and how to see them', async () => {
    verifies('gw-lists', 'list-totals');
    const page = await onTerminal(gw, ['invoice', 'list']);
    expect(page).toContain(`20 of ${MADE}: --all, --search TEXT, --since 1h`);
    const all = await onTerminal(gw, ['invoice', 'list', '--all']);
    expect(rowsIn(all)).toBe(MADE);
    expect(all).not.toContain('there are more');
    await gw(['invoice', 'simulate', at(0)]);
    await gw(['invoice', 'simulate', at(1)]);
    expect(await onTerminal(gw, ['income', '--limit', '1'])).toContain('1 of 2: --all');
    expect((await gw(['income', '--all', '--limit', '1', '--json'])).json.data).toHaveLength(2);
    // Nothing of it where a program reads.
    expect((await gw(['invoice', 'list'])).stderr).toBe('');
  });

  it('finds an order, a memo or an amount on any page', async () => {
    verifies('gw-lists');
    const { json: oldest } = await gw(['invoice', 'get', at(2), '--json']);
    for (const text of ['order-2', oldest.memo, oldest.amount, oldest.id.slice(-8)]) {
      const { json } = await gw(['invoice', 'list', '--search', text, '--json', 'id']);
      expect(json.map(({ id }: { id: string }) => id)).toContain(at(2));
      const { json: seen } = await operator(['admin', 'payments', '--search', text, '--json', 'id']);
      expect(seen.map(({ id }: { id: string }) => id)).toContain(at(2));
    }
    expect((await gw(['invoice', 'list', '--search', oldest.memo, '--json', 'id'])).json).toHaveLength(1);
    expect((await gw(['invoice', 'list', '--search', 'no such thing', '--json'])).json.data).toEqual([]);
  });

  it('is written as CSV page by page, by a template or as jq makes it, for programs and on a terminal', async () => {
    verifies('gw-formats');
    const { json } = await gw(['invoices', '--all', '--json', 'external_ref,amount']);
    const csv = await gw(['invoices', '--all', '--csv', '--json', 'external_ref,amount']);
    const lines = json.map(
      (row: { external_ref: string; amount: string }) => `${row.external_ref},${row.amount}\r\n`,
    );
    expect(csv.stdout).toBe(`external_ref,amount\r\n${lines.join('')}`);
    const counted = await gw(['invoices', '--all', '--jq', '.data | length, .[0].external_ref']);
    expect(counted.stdout).toBe(`${MADE}\norder-${MADE - 1}\n`);
    expect(rowsIn(await onTerminal(gw, ['invoices', '--template', '{{.external_ref}}']))).toBe(20);
    // Nothing is made where what is to be written of it is wrong.
    const create = ['invoice', 'create', '--chain', 'ton', '--amount', '5', '--json'];
    for (const wrong of [
      ['--jq', '.id['],
      ['--jq', '.', '--csv'],
    ])
      expect(await gw([...create, ...wrong])).toMatchObject({ code: 2, stdout: '' });
    expect((await gw(['invoices', '--jq', '.data[0].id'])).stdout).toBe(`${at(MADE - 1)}\n`);
  });

  it('of events begins with the newest for a person, and goes back as far as is asked', async () => {
    verifies('gw-lists');
    const first = (text: string) => /order-\d+|\b[0-9a-f]{8}\b/.exec(text.split('\n')[1] ?? '')?.[0];
    const { json } = await gw(['event', 'list', '--order', 'newest', '--limit', '1', '--json']);
    expect(first(await onTerminal(gw, ['event', 'list']))).toBe(json.data[0].id.slice(-8));
    // As the interface has it where a program reads.
    expect((await gw(['event', 'list', '--limit', '1', '--json'])).json.data[0].data.invoice.id).toBe(at(0));
    const since = (await gw(['event', 'list', '--since', '1h', '--json'])).json.data;
    expect(since).toHaveLength(MADE + 2);
    expect(since[0].id).toBe(json.data[0].id);
    expect((await gw(['event', 'list', '--since', '2999-01-01', '--json'])).json.data).toEqual([]);
    expect(await gw(['event', 'list', '--since', 'soon', '--json'])).toMatchObject({ code: 2 });
  });
});

describe('an id', () => {
  it('is taken as short as it is shown', async () => {
    verifies('gw-short-ids', 'explain-references');
    const short = at(5).slice(-8);
    expect((await gw(['invoice', 'get', short, '--json', 'id'])).json.id).toBe(at(5));
    expect((await gw(['payment', 'get', short, '--json'])).code).toBe(0);
    // So are its order, its memo, and the link to its page.
    const { json: meant } = await gw(['invoice', 'get', 'order-5', '--json']);
    expect(meant.id).toBe(at(5));
    for (const text of [meant.memo.toLowerCase(), meant.pay_url])
      expect((await gw(['invoice', 'get', text, '--json', 'id'])).json.id).toBe(at(5));
    // A whole id costs no request besides its own.
    const { stderr } = await gw(['invoice', 'get', at(5), '--json', 'id', '--verbose']);
    expect(stderr.match(/GET \S+/g)).toEqual(['GET /v1/invoices/{invoice_id}']);
    expect((await operator(['admin', 'payment', short, '--json'])).json.payment.id).toBe(at(5));
    expect((await operator(['admin', 'resolve', short, 'fail', '--yes', '--json'])).json.invoice.status).toBe(
      'failed',
    );
    const { json: me } = await gw(['whoami', '--json', 'id']);
    expect((await operator(['admin', 'merchant', me.id.slice(-8), '--json'])).json.merchant.user_id).toBe(
      me.id,
    );
    const { json: events } = await gw(['event', 'list', '--json', 'id']);
    const event = events.at(-1).id;
    expect((await gw(['event', 'list', '--after', event, '--json'])).json.data).toEqual([]);
    const unit = (
      await gw(['unit', 'create', '--title', 'Tea', '--amount-usd', '3', '--currencies', 'TON', '--json'])
    ).json;
    expect((await gw(['unit', 'get', unit.id.slice(-8), '--json', 'id'])).json.id).toBe(unit.id);
  });

  it('that could be several is refused with them, one that is none with 3', async () => {
    verifies('gw-short-ids');
    // Those that were made within a minute begin alike.
    const ambiguous = await gw(['invoice', 'get', at(3).slice(0, 8), '--json']);
    expect(ambiguous).toMatchObject({ code: 2, error: { error: { code: 'ambiguous_id' } } });
    expect(ambiguous.error.error.candidates).toContain(at(3));
    expect(ambiguous.error.error.message).toMatch(/created \S+ TON order-\d/);
    expect((await gw(['invoice', 'get', 'ffffffff', '--json'])).code).toBe(3);
  });
});

describe('a person', () => {
  it('reads the story of anything, and what waits, in 80 columns', async () => {
    verifies('explain-anything', 'inbox-own');
    for (const columns of [80, 200]) {
      const story = gw.pty(['explain', 'order-0'], { columns });
      expect(await story.ended).toBe(0);
      const lines = linesLeft(story.output());
      expect(lines[0]).toMatch(/^Paid and booked: \S+ TON\./);
      for (const part of ['what happened, in UTC', 'invoice made for order-0', ', by merchant'])
        expect(lines.join('\n')).toContain(part);
      // What is to be copied stands whole, and alone on its line where it is longer.
      for (const line of lines)
        expect(line.length <= columns || !line.trim().includes('  '), line).toBe(true);
    }
    const none = gw.pty(['explain', 'no such thing'], { columns: 80 });
    expect(await none.ended).toBe(3);
    expect(linesLeft(none.output()).join('\n')).toMatch(/nothing found.*searched as.*an order.*gw inbox/s);
    const { json } = await gw(['explain', 'order-0', '--json']);
    const piped = (await gw(['explain', 'order-0'])).stdout.split('\n').map((line) => line.split('\t'));
    const { id, amount } = json.matches[0];
    expect(piped).toContainEqual(['matches', 'invoice', id, 'confirmed', amount, 'TON', 'order-0']);
    const [made] = json.story.moments;
    const time = new Date(made.at * 1000).toISOString().replace('.000Z', '');
    expect(piped.find(([name]) => name === 'story.moments')).toEqual([
      'story.moments',
      expect.stringContaining(time),
      made.kind,
      made.text,
    ]);
    expect(piped.flat().filter((value) => /^[[{]/.test(value))).toEqual([]);
    expect(json).toMatchObject({ matches: [{ id: at(0) }], story: { invoice: { status: 'confirmed' } } });
    const { json: inbox } = await gw(['inbox', '--json']);
    expect(inbox).toMatchObject({ has_more: false });
  });
});
