// After an upgrade: what was asked for by a version that counted blocks waits for the seconds that its gateway asks for now.
import type { Db } from '../../data/db/open.ts';
import { findMeta, forgetMeta } from '../../data/meta.ts';
import {
  giveSeconds,
  UNTIMED_UNTIL,
  type Untimed,
  type UntimedTable,
  untimedTables,
  untimedTerms,
} from '../../data/untimed.ts';
import { waitFor } from '../../src/chains/catalogue.ts';
import { type Clock, seconds } from '../clock.ts';
import type { Config } from '../settings/config.ts';

const PAGE_ROWS = 500;
const BEGIN: Pick<Untimed, 'id' | 'chain'> = { id: '', chain: '' };

/** Once for each database; where the settings ask for blocks, blocks stay. */
export async function askForSeconds({ config, db, clock }: { config: Config; db: Db; clock: Clock }) {
  const made_until = await findMeta(db.query, UNTIMED_UNTIL);
  if (made_until === undefined) return;
  const { chains, network, gateways, blockchains } = config;
  const known = [
    ...chains.enabled(network, gateways, blockchains),
    ...chains.disabled(network, gateways, blockchains),
  ];
  const byChain = new Map(known.map((gateway) => [gateway.chain, gateway]));
  const filter = {
    chains: [...byChain.keys()],
    made_until: Number(made_until),
    now: seconds(clock),
    limit: PAGE_ROWS,
  };
  const fill = async (table: UntimedTable, terms: readonly Untimed[]) =>
    db.transaction(async (tx) => {
      for (const each of terms) {
        const gateway = byChain.get(each.chain);
        const wait = gateway && waitFor(gateway, each.amount_usd_micros);
        if (wait && wait.confirm_seconds !== null) await giveSeconds(tx, table, each, wait);
      }
    });
  for (const table of untimedTables)
    for (let after = BEGIN; ; ) {
      const terms = await untimedTerms(db.query, table, { ...filter, after });
      await fill(table, terms);
      if (terms.length < PAGE_ROWS) break;
      after = terms.at(-1) as Untimed;
    }
  await forgetMeta(db.query, UNTIMED_UNTIL);
}
