// `gw open`: the page of an invoice or a unit, or a transaction or an address in its explorer, in the browser.

import type { CallReply } from '../../src/api/client/call.ts';
import { getPublicConfig, getUnit } from '../../src/api/endpoints/buyer.ts';
import { explain } from '../../src/api/endpoints/invoices.ts';
import { explorerOfGateway } from '../../src/chains/explorers.ts';
import { cleanText } from '../../src/clean.ts';
import { openBrowser } from '../cockpit/browser.ts';
import type { Command, Context } from '../engine/command.ts';
import { GwError } from '../engine/errors.ts';
import { onlyMatch } from '../engine/references.ts';
import { print, say } from '../output/io.ts';
import { clean } from '../output/text.ts';
import { printObject } from '../output/view.ts';
import { needsReference } from './parts/reference.ts';

type Explanation = CallReply<typeof explain>;
type Match = Explanation['matches'][number];

export const command: Command = needsReference({
  endpoints: [explain, getUnit, getPublicConfig],
  args: ['ref'],
  flags: [
    {
      field: 'ref',
      name: 'reference',
      place: 'own',
      kind: 'text',
      required: true,
      value: 'reference',
      help: 'an order, a memo, an id or its last eight, a unit, a transaction, an address',
    },
    {
      field: 'print',
      name: 'print',
      place: 'own',
      kind: 'boolean',
      help: 'print the address, open nothing; so it is where there is no terminal, or no browser',
    },
  ],
  about:
    'Opens the page of an invoice or a unit, as buyers see it. A transaction, an address and a payment that no invoice shows are opened in the explorer of their blockchain.',
  fields: ['url'],
  examples: ['gw open order-1001', 'gw open 1a2b3c4d --print', 'gw open TXID --json url'],
  async run(context) {
    const { io } = context;
    const { own } = await context.input();
    const q = String(own.ref);
    const reply = await context.call(explain, { query: { q } });
    const url = await urlOf(context, onlyMatch(reply, q), reply);
    if (io.json !== false) return printObject(io, { url });
    const mayOpen = own.print !== true && io.stdout.isTTY === true;
    if (mayOpen && (await openBrowser(url, io.env))) return say(io, clean(`opened ${url}`));
    print(io, clean(url));
  },
});

async function urlOf(context: Context, match: Match, { story, query }: Explanation): Promise<string> {
  const { call } = context;
  if (match.kind === 'unit') return (await call(getUnit, { params: { unit_id: match.id } })).page_url;
  if (match.kind === 'address')
    return inExplorer(context, match.id.split(' ')[0] ?? '', 'address', cleanText(query));
  const { invoice, payment } = story ?? {};
  const txid = payment?.txid ?? invoice?.txid;
  const isOfChain = match.by === 'transaction' || match.kind === 'payment' || !invoice;
  const chain = payment?.chain ?? invoice?.chain;
  if (isOfChain && txid && chain) return inExplorer(context, chain, 'transaction', txid);
  if (invoice) return invoice.pay_url;
  throw new GwError('not_found', `a ${match.kind} has no page`, { hint: `gw explain ${match.id}` });
}

async function inExplorer(
  { call }: Context,
  chain: string,
  what: 'transaction' | 'address',
  id: string,
): Promise<string> {
  const { network } = await call(getPublicConfig);
  const explorer = explorerOfGateway(chain, network);
  if (!explorer) throw new GwError('not_found', `no explorer of ${chain} is known`);
  return explorer[what].replace('{id}', encodeURIComponent(id));
}
