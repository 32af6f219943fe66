// The networks of each coin: how they are recognised by their first block, and how their blocks are proved.
import type { Network } from '../family.ts';
import { type AddressRules, bitcoinAddresses, litecoinAddresses } from './address.ts';
import { scryptWork, sha256Work, type WorkRules } from './work.ts';

/** Easiest targets. */
const DIFFICULTY_ONE_BITS = 0x1d00ffff;
const LITECOIN_BITS = 0x1e0fffff;
const SIGNET_BITS = 0x1e0377ae;
const REGTEST_BITS = 0x207fffff;

export interface Coin {
  name: string;
  /** URI scheme (BIP21). */
  scheme: string;
  addresses: AddressRules;
  /** Seconds between two blocks on average. */
  block_seconds: number;
  /** The main network, known by the hash of its first block. */
  main: { genesis: string; work: WorkRules };
  /** The test networks, by the hash of their first block. */
  tests: Record<string, WorkRules>;
}

export const coins = {
  bitcoin: {
    name: 'Bitcoin',
    scheme: 'bitcoin',
    addresses: bitcoinAddresses,
    block_seconds: 600,
    main: {
      genesis: '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f',
      work: {
        hash: sha256Work,
        limit_bits: DIFFICULTY_ONE_BITS,
        // A tenth of the 52.35 T of June 2023 (tronweekly.com, "Litecoin mining difficulty surge"); it has grown since.
        least_difficulty: 5_000_000_000_000n,
        retarget: 'periodically',
      },
    },
    tests: {
      // testnet3, testnet4, signet, regtest
      '000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943': {
        hash: sha256Work,
        limit_bits: DIFFICULTY_ONE_BITS,
        retarget: 'with_exceptions',
      },
      '00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043': {
        hash: sha256Work,
        limit_bits: DIFFICULTY_ONE_BITS,
        retarget: 'with_exceptions',
      },
      '00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6': {
        hash: sha256Work,
        limit_bits: SIGNET_BITS,
        retarget: 'periodically',
      },
      '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206': {
        hash: sha256Work,
        limit_bits: REGTEST_BITS,
        retarget: 'never',
      },
    },
  },
  litecoin: {
    name: 'Litecoin',
    scheme: 'litecoin',
    addresses: litecoinAddresses,
    block_seconds: 150,
    main: {
      genesis: '12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2',
      work: {
        hash: scryptWork,
        limit_bits: LITECOIN_BITS,
        // A tenth of the 26.2 M of block 2,498,134, June 2023 (same source); it has grown since.
        least_difficulty: 2_600_000n,
        retarget: 'periodically',
      },
    },
    tests: {
      // testnet4, regtest
      '4966625a4b2851d9fdee139e56211a0d88575f59ed816ff5e6a63deb4e3e29a0': {
        hash: scryptWork,
        limit_bits: LITECOIN_BITS,
        retarget: 'with_exceptions',
      },
      '530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9': {
        hash: scryptWork,
        limit_bits: REGTEST_BITS,
        retarget: 'never',
      },
    },
  },
} satisfies Record<string, Coin>;

export type UtxoCoin = keyof typeof coins;

/** The coin whose main network begins with this block. */
export const coinOfMain = (genesis: string): Coin | undefined =>
  Object.values(coins).find(({ main }) => main.genesis === genesis);

/**
 * How blocks are proved on the network that begins with this block. A test chain that no one has listed here asks for
 * some work of the coin's kind, and no more.
 */
export function workRules(coin: Coin, network: Network, genesis: string): WorkRules {
  if (network === 'mainnet') return coin.main.work;
  const tests: Record<string, WorkRules> = Object.assign(
    {},
    ...Object.values(coins).map((each) => each.tests),
  );
  return tests[genesis] ?? { hash: coin.main.work.hash, limit_bits: REGTEST_BITS, retarget: 'freely' };
}
