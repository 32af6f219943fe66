// Public hosts of providers, and what is known of what they take. Their limits change without notice: reading begins with
// these numbers, and goes by what a host refuses.

/** A limit of a provider that is learnt from its refusals. */
export const limitNames = [
  'batch_calls',
  'log_blocks',
  'log_values',
  'signature_statuses',
  'accounts',
] as const;
export type LimitName = (typeof limitNames)[number];

/** What one provider takes at once, as far as it is known: from the list below, or from what it refused. */
export interface HostLimits {
  get(name: LimitName): number | undefined;
  /** Keeps what a refusal, or the lack of one, has shown. */
  learn(name: LimitName, value: number): void;
}

export interface KnownHost {
  /** Names of hosts, and of the domains that they are in. */
  names: readonly string[];
  /** Whether each call of a batch counts where it limits how often it is asked. */
  counts_calls?: boolean;
  /** The most calls or requests a second for who has no key. */
  per_second?: number;
  begins: Readonly<Partial<Record<LimitName, number>>>;
}

/** The first that fits counts. Sources and dates stand with the recorded refusals in the tests. */
const knownHosts: readonly KnownHost[] = [
  // With a key, which is in the address.
  { names: ['lb.drpc.org'], counts_calls: true, begins: {} },
  { names: ['drpc.org'], counts_calls: true, begins: { batch_calls: 3, log_blocks: 10_000 } },
  { names: ['1rpc.io'], begins: { batch_calls: 3 } },
  {
    names: ['mainnet.base.org', 'sepolia.base.org'],
    counts_calls: true,
    per_second: 0.5,
    begins: { batch_calls: 5, log_blocks: 2_000 },
  },
  { names: ['publicnode.com'], begins: { log_blocks: 50_000 } },
  { names: ['alchemy.com', 'quiknode.pro', 'quiknode.com'], counts_calls: true, begins: {} },
  { names: ['infura.io'], begins: { log_blocks: 10_000 } },
  { names: ['nodies.app', 'onfinality.io'], begins: { batch_calls: 5 } },
  { names: ['solana.com'], counts_calls: true, begins: {} },
  { names: ['trongrid.io'], begins: { batch_calls: 100, log_blocks: 5_000, log_values: 1_000 } },
];

/** Undefined for a host that is not known. */
export function knownHost(name: string): KnownHost | undefined {
  const host = name.toLowerCase().replace(/:\d+$/, '');
  return knownHosts.find(({ names }) => names.some((each) => host === each || host.endsWith(`.${each}`)));
}
