// `gw pos`: a till in the terminal; without one, what the tills have sold today.
import { cancelInvoice, getPublicInvoice, listGateways } from '../../src/api/endpoints/buyer.ts';
import { createInvoice, listInvoices } from '../../src/api/endpoints/invoices.ts';
import type { Command } from '../engine/command.ts';
import { GwError } from '../engine/errors.ts';
import { printObject, printReply } from '../output/view.ts';
import { isLive } from './parts/live.ts';
import { dayBegan, readSales, tillName, totalsOf } from './parts/till.ts';

const DEFAULT_TILL = 'till-1';

export const command: Command = {
  endpoints: [listGateways, createInvoice, getPublicInvoice, cancelInvoice, listInvoices],
  args: ['till'],
  flags: [
    {
      field: 'till',
      name: 'till',
      place: 'own',
      kind: 'text',
      value: 'name',
      help: `the name of this till, where there are several (default: ${DEFAULT_TILL})`,
    },
    {
      field: 'chain',
      name: 'chain',
      place: 'own',
      kind: 'text',
      value: 'id',
      help: 'the coin to begin with; c changes it (default: the first that is available)',
    },
  ],
  about:
    'Type an amount in USD, Enter shows the code, and the screen says PAID with a bell. Esc cancels. The foot has the total of the day, of this till and of all tills of the account. A lost connection is reported and waited for. A merchant key is enough (GW_API_KEY): a till needs no sign-in. Without a terminal, or with --json, it prints the totals of today.',
  fields: ['till', 'since', 'tills', 'all'],
  examples: ['gw pos', 'gw pos --till bar --chain solana-usdc', 'gw pos --json'],
  async run(context) {
    const { own } = await context.input();
    const { io, call } = context;
    const till = tillName(String(own.till ?? DEFAULT_TILL));
    if (!isLive(io, own)) {
      const since = dayBegan();
      const { tills, all } = totalsOf(await readSales(call, since), till);
      if (io.json !== false) return printObject(io, { till, since, tills, all });
      return printReply(io, { data: [...tills, all] }, { columns: ['till', 'sales', 'amount_usd'] });
    }
    const { data } = await call(listGateways);
    const chains = data.filter(({ available }) => available).map(({ chain }) => chain);
    const first = own.chain === undefined ? chains[0] : String(own.chain);
    if (first === undefined || !data.some(({ chain }) => chain === first))
      throw new GwError('usage', `no coin ${first ?? 'is available'}`, { hint: 'gw gateways' });
    const { posScreen } = await import('../screens/pos.tsx');
    await posScreen(context, { till, chains: [first, ...chains.filter((chain) => chain !== first)] });
  },
};
