// What is examined of blockchains: each provider on its own, with its network, height and age, and our clock against them.

import type { Blockchain } from '../../src/chains/catalogue.ts';
import {
  type Lack,
  type Network,
  ProviderError,
  type Tip,
  type UnreadableAsset,
} from '../../src/chains/family.ts';
import { KNOWN_UNTIL, standingOf, type Upgrade, upgrades } from '../../src/chains/upgrades.ts';
import type { ProviderConfig } from '../observer/providers/provider.ts';
import { openRpc } from '../observer/providers/rpc.ts';
import { loneOperator, providersOf } from '../observer/quorum.ts';
import { runtimeOf } from '../process/runtime.ts';
import type { Config } from '../settings/config.ts';
import { type Check, type Finding, failed, ok, PATIENCE_MS, warning } from './finding.ts';

/** As the daemon alerts of it. */
const CLOCK_SECONDS = 30;
/** Blocks come this late without anything being wrong, where a chain keeps no time. */
const LATE_SECONDS = 3 * 3600;

interface Probed {
  blockchain: Blockchain;
  provider: string;
  tip: Tip | null;
  /** Assets that it does not have as the settings name them. */
  unreadable: readonly UnreadableAsset[];
  /** What it does not serve though reading asks for it. */
  lacks: readonly Lack[];
  /** Of the tip when it was read, seconds of our clock. */
  age_seconds: number;
  error: ProviderError | null;
}

export const providers: Check = async ({ config, now }) => {
  const read = new Set(
    config.chains.enabled(config.network, config.gateways).map(({ blockchain }) => blockchain),
  );
  const asked = config.chains.blockchains
    .filter(({ id }) => read.has(id))
    .flatMap((blockchain) =>
      providersOf(blockchain, config.network, config.blockchains[blockchain.id]).map((provider) =>
        probe(config, blockchain, provider),
      ),
    );
  const probed = await Promise.all(asked);
  const lone = config.chains.blockchains
    .filter(({ id }) => read.has(id))
    .flatMap((blockchain) => {
      const { id } = blockchain;
      const says = loneOperator(blockchain, config.network, config.blockchains[id]);
      return says === null
        ? []
        : warning(`provider ${id}`, says, `set blockchains.${id}.urls to providers of two operators`);
    });
  return [
    ...lone,
    ...probed.flatMap((one) => [
      findingOf(one, probed),
      ...one.lacks.map((lack) => lackOf(one, lack, probed)),
      ...one.unreadable.map(unreadableOf),
    ]),
    clockOf(probed),
    ...upgradesOf(probed, config.network, now),
  ];
};

async function probe(config: Config, blockchain: Blockchain, provider: ProviderConfig): Promise<Probed> {
  const { id, family } = blockchain;
  const clock = { ms: Date.now };
  const source = openRpc({
    blockchain: id,
    family,
    network: config.network,
    providers: [provider],
    requests_per_second: blockchain.requests_per_second,
    clock,
    limits: { timeout_ms: PATIENCE_MS },
    runtime: runtimeOf(config),
  });
  const now = () => Math.floor(clock.ms() / 1000);
  const label = source.status()[0]?.provider ?? provider.provider;
  const seen = {
    blockchain,
    provider: label,
    tip: null,
    unreadable: [],
    lacks: [],
    age_seconds: 0,
    error: null,
  };
  try {
    const { tip, unreadable, lacks } = await source.use(async (rpc) => {
      const context = {
        rpc,
        network: config.network,
        blockchain: id,
        gateways: config.chains
          .enabled(config.network, config.gateways)
          .filter((one) => one.blockchain === id),
        now,
        local: (chain_time: number) => ({ earliest_at: chain_time, latest_at: chain_time }),
        spare_requests: 0,
      };
      return { ...(await firstPage(blockchain, context)), lacks: (await family.examine?.(context)) ?? [] };
    });
    return { ...seen, tip, unreadable, lacks, age_seconds: tip === null ? 0 : now() - tip.time };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return { ...seen, error };
  } finally {
    await source.close();
  }
}

/** The first page of a reading of no address has it. */
async function firstPage(
  { family }: Blockchain,
  context: Parameters<ReturnType<Blockchain['family']['open']>['read']>[0],
): Promise<{ tip: Tip | null; unreadable: readonly UnreadableAsset[] }> {
  const pages = family.open().read(context, {
    addresses: async () => [],
    cursor: null,
    accounts: async () => new Map(),
    urgent: async () => [],
    behind: async () => [],
    pending: async () => [],
    read_through: null,
  });
  for await (const { tip, unreadable = [] } of pages) if (tip) return { tip, unreadable };
  return { tip: null, unreadable: [] };
}

function findingOf({ blockchain, provider, tip, age_seconds, error }: Probed, all: Probed[]): Finding {
  const { id } = blockchain;
  const of = `provider ${id}` as const;
  if (error !== null) {
    const others = all.some((one) => one.blockchain.id === id && one.error === null);
    const fix = `set blockchains.${id}.url to one that answers, or turn its gateways off`;
    const says = error.message.replace(/^.*no provider can be used now: /, '');
    return others && error.kind !== 'wrong_network' ? warning(of, says, fix) : failed(of, says, fix);
  }
  if (tip === null) return ok(of, `${provider}: right network`);
  const says = `${provider}: right network, at ${tip.height}, ${age_seconds} s old`;
  return age_seconds > LATE_SECONDS
    ? warning(of, `${says}: it is behind`, `wait until its node has synced, or set blockchains.${id}.url`)
    : ok(of, says);
}

/** Where another provider serves it, that one is asked. */
function lackOf(
  { blockchain: { id }, provider }: Probed,
  { is_needed, says }: Lack,
  all: readonly Probed[],
): Finding {
  const serves = ({ blockchain, error, lacks }: Probed) =>
    blockchain.id === id && error === null && !lacks.some((each) => each.is_needed);
  const level = is_needed && !all.some(serves) ? failed : warning;
  return level(
    `provider ${id}`,
    `${provider}: ${says}`,
    `set blockchains.${id}.urls to providers that serve it`,
  );
}

const unreadableOf = ({ chain, reason }: UnreadableAsset): Finding =>
  failed(`gateway ${chain}`, reason, `set the contract and decimals of ${chain} to those of its token`);

/** What is announced for the chains that are read; the dates are those of main networks. */
function upgradesOf(probed: readonly Probed[], network: Network, now: number): Finding[] {
  const until = ok('upgrades', `this build knows upgrades until ${dayOf(KNOWN_UNTIL)}`);
  if (network !== 'mainnet') return [until];
  const read = new Map<string, Blockchain>(probed.map(({ blockchain }) => [blockchain.id, blockchain]));
  return [
    until,
    ...upgrades.flatMap((upgrade) => {
      const blockchain = read.get(upgrade.blockchain);
      if (!blockchain) return [];
      const heights = probed.flatMap((one) =>
        one.blockchain === blockchain && one.tip ? one.tip.height : [],
      );
      const { block_seconds } = blockchain;
      const tip = heights.length === 0 ? null : { height: Math.max(...heights), block_seconds };
      const standing = standingOf(upgrade, now, tip);
      return standing === 'near' || standing === 'newer' ? [upgradeOf(upgrade, standing)] : [];
    }),
  ];
}

function upgradeOf({ blockchain, name, at, height, changes }: Upgrade, standing: 'near' | 'newer'): Finding {
  const when = at === null ? `at block ${height}` : `on ${momentOf(at)}`;
  const [verb, fix] =
    standing === 'near'
      ? ['takes effect', 'see whether a newer gatewayd, and a newer version of your own node, speak of it']
      : ['took effect', 'install a gatewayd that was made since'];
  return warning(`upgrade ${blockchain}`, `${name} ${verb} ${when}: ${changes}`, fix);
}

const dayOf = (at: number): string => new Date(at * 1000).toISOString().slice(0, 10);
const momentOf = (at: number): string =>
  `${new Date(at * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

function clockOf(probed: readonly Probed[]): Finding {
  const offsets = probed
    .filter(({ tip, blockchain }) => tip !== null && blockchain.family.keeps_time)
    .map(({ age_seconds, tip }) => age_seconds - (tip?.age_seconds ?? 0));
  if (offsets.length === 0)
    return warning('clock', 'no chain that keeps time could be asked', 'gatewayd doctor --ntp pool.ntp.org');
  const least = offsets.reduce((one, other) => (Math.abs(one) < Math.abs(other) ? one : other));
  const says = `${Math.abs(least)} s ${least < 0 ? 'behind' : 'ahead of'} the chains`;
  return Math.abs(least) > CLOCK_SECONDS
    ? failed('clock', says, 'set the clock by NTP: timedatectl set-ntp true')
    : ok('clock', says);
}
