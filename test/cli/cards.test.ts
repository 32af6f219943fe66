// What people read: cards and tables that fit their terminal, with money, times and ids as a person takes them in.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { explorerOfGateway } from '../../src/chains/explorers.ts';
import { explorerOf, gatewaysOf } from '../../src/chains/gateways.ts';
import { verifies } from '../requirements.ts';
import { type Gw, linesLeft } from './helpers/gw.ts';
import { openStage, type Stage } from './helpers/stage.ts';

let stage: Stage;
let gw: Gw;
const ids = { open: '', paid: '' };

beforeAll(async () => {
  stage = await openStage('cards@example.com');
  ({ gw } = stage);
  const create = async (reference: string) => {
    const made = ['invoice', 'create', '--chain', 'ton', '--amount', '12.50', '--external-ref', reference];
    return (await gw([...made, '--json', 'id'])).json.id as string;
  };
  ids.open = await create('order-open');
  ids.paid = await create('order-paid');
  await gw(['invoice', 'simulate', ids.paid]);
});
afterAll(() => stage.close());

/** The lines of a command on a terminal of that width. */
async function linesOf(args: string[], columns = 80): Promise<string[]> {
  const pty = gw.pty(args, { columns });
  expect(await pty.ended).toBe(0);
  const lines = linesLeft(pty.output());
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
}

it('an invoice is a card that fits 80×24, with status and amount first', async () => {
  verifies('gw-for-people');
  const open = await linesOf(['invoice', 'get', ids.open]);
  expect(open.length).toBeLessThan(24);
  expect(open[0]).toBe('created   6.25 TON   $12.50');
  expect(open.find((line) => line.startsWith('expires'))).toMatch(
    /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC \(in \dm\)/,
  );
  const paid = await linesOf(['invoice', 'get', ids.paid]);
  expect(paid[0]).toBe('confirmed   6.25 TON   $12.50');
  expect(paid.some((line) => line.startsWith('expires'))).toBe(false);
  expect(paid.find((line) => line.startsWith('paid'))).toMatch(/ UTC \(\d+s ago\)/);
});

it('the account is a card with sections, its key and secret in part', async () => {
  verifies('gw-for-people');
  const { json } = await gw(['account', 'get', '--json']);
  const lines = await linesOf(['account', 'get']);
  expect(lines.length).toBeLessThan(24);
  expect(lines[0]).toMatch(
    new RegExp(`^${json.slug} {3}testnet {3}\\$\\d+\\.\\d\\d can still be confirmed$`),
  );
  expect(lines).toEqual(expect.arrayContaining(['access', 'webhook', 'sales']));
  const text = lines.join('\n');
  expect(text).toContain(`…${json.api_key.slice(-4)}`);
  for (const secret of [json.api_key, json.webhook_secret]) expect(text).not.toContain(secret);
  // No name of a member before a value.
  for (const line of lines) expect(line).not.toMatch(/^\w+_\w+ /);
  const changed = await linesOf(['account', 'update', '--display-name', 'Tea House']);
  expect(changed.slice(changed.indexOf('what buyers see'))).toContainEqual(
    expect.stringMatching(/^name +Tea House$/),
  );
  expect(changed.join('\n')).not.toContain(json.api_key);
});

it('ids, pages and addresses are links where a terminal shows colours, and plain text elsewhere', async () => {
  verifies('gw-links');
  const { json } = await gw(['invoice', 'get', ids.open, '--json', 'pay_url,address']);
  const opened = async (args: string[], env: Record<string, string> = {}) => {
    const pty = gw.pty(args, { env });
    expect(await pty.ended).toBe(0);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the links are looked for
    return [...pty.output().matchAll(/\u001b\]8;;(.+?)\u001b\\(.+?)\u001b\]8;;\u001b\\/g)].map(
      ([, url, text]) => [url, text],
    );
  };
  expect(await opened(['invoice', 'list'])).toContainEqual([json.pay_url, ids.open.slice(-8)]);
  const card = await opened(['invoice', 'get', ids.paid]);
  expect(card).toContainEqual([`https://testnet.tonviewer.com/${json.address}`, json.address]);
  // What was simulated is on no chain.
  expect(card).toHaveLength(2);
  expect(await opened(['invoice', 'list'], { NO_COLOR: '1' })).toEqual([]);
  for (const { chain, blockchain } of gatewaysOf('mainnet'))
    expect(explorerOfGateway(chain, 'mainnet'), chain).toBe(explorerOf(blockchain, 'mainnet'));
});

it('columns are dropped before anything is cut, ids by their last eight characters', async () => {
  verifies('gw-for-people');
  const narrow = await linesOf(['invoice', 'list']);
  for (const line of narrow) expect(line.length, line).toBeLessThanOrEqual(79);
  expect(narrow.join('')).not.toContain('…');
  expect(narrow[1]).toMatch(new RegExp(`^${ids.paid.slice(-8)}  confirmed  ton +6\\.25 TON +\\$12\\.50`));
  // Money ends where its heading ends.
  expect(narrow[0]?.indexOf('USD')).toBe((narrow[1]?.indexOf('$12.50') ?? 0) + 3);
  const tiny = await linesOf(['invoice', 'list'], 40);
  expect(tiny[1]).toMatch(new RegExp(`^${ids.paid.slice(-8)}  confirmed  ton +6\\.25 TON$`));
  const wide = await linesOf(['invoice', 'list'], 140);
  expect(wide[1]).toContain(ids.paid);
  expect(wide[1]).toMatch(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC \(\d+s ago\)/);
});

it('no JSON reaches a person', async () => {
  verifies('gw-for-people');
  const { json: unit } = await gw([
    'unit',
    'create',
    '--title',
    'Tea',
    '--amount-usd',
    '3',
    '--currencies',
    'TON',
    '--json',
  ]);
  const { json: events } = await gw(['event', 'list', '--json']);
  for (const args of [
    ['unit', 'get', unit.id],
    ['unit', 'list'],
    ['exit', 'web', ids.open],
    ['payment', 'get', ids.paid],
    ['event', 'resend', events.data[0].id, '--dry-run'],
    ['account', 'pages'],
    ['gateways'],
    ['balance'],
    ['income'],
    ['event', 'list'],
  ]) {
    const text = (await linesOf(args, 100)).filter((line) => !line.startsWith('Not sent')).join('\n');
    if (!args.includes('--dry-run')) expect(text, args.join(' ')).not.toMatch(/[{[]"|\{\s*$/m);
  }
});
