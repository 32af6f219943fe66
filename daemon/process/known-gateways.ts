// Whether the settings still mean what the database was used with: no invoice is awaited through a gateway that is not read.
import type { Db } from '../../data/db/open.ts';
import { awaitedChains } from '../../data/invoices.ts';
import { changeMeta, findMeta, keepMeta, metaNames } from '../../data/meta.ts';
import type { Gateway } from '../../src/chains/family.ts';
import { type Config, ConfigError } from '../settings/config.ts';

/** Before the name of each gateway that any daemon of this database was started with: no invoice goes through another. */
const SOLD = 'sold:';

type Settings = Pick<
  Config,
  'network' | 'gateways' | 'blockchains' | 'chains' | 'custom_blockchains' | 'custom_gateways'
>;

/**
 * Notes what the settings make of gateways. Throws ConfigError where invoices may still be paid through one that they no
 * longer name, or that is another asset now: their payments would not be seen, or would be counted as something else.
 */
export async function assertGatewaysMatch(db: Db, config: Settings, now: number): Promise<void> {
  const { network, gateways, blockchains, chains, custom_blockchains } = config;
  const known = [
    ...chains.enabled(network, gateways, blockchains),
    ...chains.disabled(network, gateways, blockchains),
  ];
  let asked: Promise<Map<string, number>> | undefined;
  // Reads all invoices that are open, which may be a million.
  const awaited = () => (asked ??= awaitedChains(db.query, now));
  const isKnown = (chain: string) => known.some((gateway) => gateway.chain === chain);
  const noted = await metaNames(db.query, SOLD);
  if (noted.length === 0 || !noted.every((name) => isKnown(name.slice(SOLD.length))))
    for (const [chain, until] of await awaited())
      if (!isKnown(chain))
        throw new ConfigError(
          `invoices through ${chain} may be paid until ${shown(until)}, and the settings no longer say how it is read: ${remedy(config, chain)}`,
        );
  const fresh = known.filter(({ chain }) => !noted.includes(SOLD + chain));
  // All or none: one that is noted means that the invoices of before were checked against every gateway.
  if (fresh.length > 0)
    await db.transaction(async (tx) => {
      for (const { chain } of fresh) await keepMeta(tx, SOLD + chain, '1');
    });
  for (const { id, chain_id } of custom_blockchains) {
    const used = await keepMeta(db.query, `blockchain:${id}`, String(chain_id));
    if (used !== String(chain_id))
      throw new ConfigError(
        `custom_blockchains: ${id} is chain ${used} in this database, not ${chain_id}: use another id for another network`,
      );
  }
  for (const gateway of known.filter((each) => isOfSettings(config, each))) {
    const name = `gateway:${gateway.chain}`;
    const identity = identityOf(gateway);
    const before = await findMeta(db.query, name);
    const isChanged = before !== undefined && before !== identity;
    const until = isChanged ? (await awaited()).get(gateway.chain) : undefined;
    if (until !== undefined)
      throw new ConfigError(
        `invoices through ${gateway.chain} may be paid until ${shown(until)} in ${before}, and the settings name ${identity}: name the former until then, and the latter under another id`,
      );
    await changeMeta(db.query, name, identity);
  }
}

const isOfSettings = ({ custom_gateways, gateways }: Settings, { chain }: Gateway): boolean =>
  custom_gateways.some(({ id }) => id === chain) || gateways[chain]?.token_contract !== undefined;

/** What its invoices are paid in. */
const identityOf = ({ currency, decimals, token_contract, blockchain, family }: Gateway): string =>
  `${currency} with ${decimals} decimals${token_contract === null ? '' : `, contract ${family.contractKey?.(token_contract) ?? token_contract}`}, on ${blockchain}`;

const remedy = ({ chains }: Settings, chain: string): string =>
  chains.values.some((value) => value.chain === chain)
    ? `set gateways.${chain}.token_contract again, with gateways.${chain}.enabled false to take no new ones`
    : `name it in custom_gateways again, with gateways.${chain}.enabled false to take no new ones`;

const shown = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000', '');
