// `gw export`: the shop as a file that `gw apply` reads.
import { Document } from 'yaml';
import { listGateways } from '../../src/api/endpoints/buyer.ts';
import { getMerchantAccount, getMerchantWallets } from '../../src/api/endpoints/merchant.ts';
import { listUnits } from '../../src/api/endpoints/units.ts';
import type { Command } from '../engine/command.ts';
import { print } from '../output/io.ts';
import { cleanLines } from '../output/text.ts';
import { printObject } from '../output/view.ts';
import { accountMembers, unitMembers } from './parts/shop-file.ts';
import { readService, type Shop } from './parts/shop-plan.ts';
import { isEmpty } from './parts/shop-same.ts';

export const command: Command = {
  endpoints: [getMerchantAccount, getMerchantWallets, listUnits, listGateways],
  about:
    'Writes settings, wallets and units as YAML, for gw apply: to this account or another one. Keys and secrets are left out, and so is what is not set; `enabled_currencies` is in it where some are switched off. All rows of the account, with invoices and income, are in gw account export.',
  fields: ['account', 'wallets', 'units'],
  examples: ['gw export > shop.yaml', 'gw export --json account'],
  async run(context) {
    const { io } = context;
    await context.input();
    const found = await readService(context);
    const shop = fileOf(found);
    if (io.json !== false) return printObject(io, shop);
    const document = new Document(shop);
    const { url } = await context.settings();
    document.commentBefore = ` The shop ${found.account.slug} at ${url} (${found.account.network}), for gw apply -f. Keys and secrets are not in it.`;
    const text = document.toString({ lineWidth: 0 });
    print(io, io.stdout.isTTY ? cleanLines(text) : text);
  },
};

/** The members of a thing that are set. */
const setOf = (thing: object, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = (thing as Record<string, unknown>)[name];
      return isEmpty(value) ? [] : [[name, value]];
    }),
  );

function fileOf({ account, wallets, units, takes_all }: Shop) {
  // Where all are taken, those that come are too.
  const names = Object.keys(accountMembers).filter((name) => !(takes_all && name === 'enabled_currencies'));
  return {
    account: setOf(account, names),
    wallets: Object.fromEntries(wallets.map(({ blockchain, address }) => [blockchain, address])),
    units: units.map((unit) => ({ slug: unit.slug, ...setOf(unit, Object.keys(unitMembers)) })),
  };
}
