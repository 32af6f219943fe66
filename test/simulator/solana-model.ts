// Solana in the virtual world: the model chain behind nodes that are behind, list late, or do not give what they list.
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { gatewaysOf } from '../../src/chains/gateways.ts';
import { SolanaChain, type SolanaTransaction } from './chains/solana.ts';
import { type SolanaView, solanaNode } from './chains/solana-node.ts';
import type { Manner, Model, ModelOptions, Order, Payment, Version } from './model.ts';

export interface SolanaFaults {
  /** Of a request: it comes to a node that is far behind, by up to so much. */
  far_behind: number;
  behind_ms: number;
  /** Of a transaction: it is listed later than its slot, by up to so much. */
  late_listing: number;
  late_ms: number;
  /** Of a transaction: it is given later than it is listed, by up to so much. */
  late_giving: number;
  /** Of a transaction of a stranger's wallet: it is never given. */
  never_given: number;
  /** Of a request: one entry of its answer is left out. */
  omits_entry: number;
  /** Of a transaction: a fork undoes it before it is final. */
  undone: number;
  page_cap: number;
}

export const NO_SOLANA_FAULTS: SolanaFaults = {
  far_behind: 0,
  behind_ms: 0,
  late_listing: 0,
  late_ms: 0,
  late_giving: 0,
  never_given: 0,
  omits_entry: 0,
  undone: 0,
  page_cap: 1000,
};

const HOST = 'solana.example';
const LAG_MEAN_MS = 300;
const LAG_MOST_MS = 3_000;
const INCLUSION_MEAN_MS = 800;
const INCLUSION_MOST_MS = 8_000;
const DUST_LAMPORTS = 5_000n;
/** 0.0075 SOL. */
const FLOOD = 1_500;
const FAILS = 0.03;

export function solanaModel({ world, random, faults }: ModelOptions & { faults: SolanaFaults }): Model {
  let current = faults;
  const chain = new SolanaChain({ random: random.fork('chain'), now: () => world.now_ms });
  const gateways = gatewaysOf('testnet').filter(({ blockchain }) => blockchain === 'solana');
  const mintOf = (id: string): string | null =>
    gateways.find((gateway) => gateway.chain === id)?.token_contract ?? null;
  for (const { token_contract } of gateways) if (token_contract) chain.addMint(token_contract);
  const views = random.fork('views');
  const payers = random.fork('payers');
  const sent = new Map<string, SolanaTransaction>();

  function view(): SolanaView {
    const lag_ms = views.chance(current.far_behind)
      ? views.unit() * current.behind_ms
      : Math.min(LAG_MOST_MS, views.exponential(LAG_MEAN_MS));
    const omits = views.chance(current.omits_entry) ? views.int(0, 3) : -1;
    let entry = 0;
    return {
      // The newest slot is processed, the one before it confirmed.
      slot: chain.slotAt(world.now_ms - lag_ms) - 1,
      lists: (each) => each.listed_at_ms <= world.now_ms && entry++ !== omits,
      gives: (each) => each.given_at_ms <= world.now_ms,
      page_cap: current.page_cap,
    };
  }

  const key = () => base58.encode(payers.bytes(32));
  const inclusion = () => Math.min(INCLUSION_MOST_MS, payers.exponential(INCLUSION_MEAN_MS));

  function delays() {
    const list_delay_ms = payers.chance(current.late_listing) ? payers.unit() * current.late_ms : 0;
    const more_ms = payers.chance(current.late_giving) ? payers.unit() * current.late_ms : 0;
    return { list_delay_ms, give_delay_ms: list_delay_ms + more_ms };
  }

  function pay(order: Order, { forwards = false }: Manner = {}): Version {
    const { chain: id, wallet, amount, memo, reference } = order;
    const mint = mintOf(id);
    const change = { owner: wallet.key, mint, amount };
    const references = reference ? [reference] : [];
    if (payers.chance(FAILS))
      chain.send({ payer: key(), changes: [change], memo, references, failed: true, delay_ms: inclusion() });
    const delay_ms = inclusion();
    const made = chain.send({ payer: key(), changes: [change], memo, references, delay_ms, ...delays() });
    sent.set(made.signature, made);
    if (forwards) {
      // The next slot: between two readings nothing has changed. It is listed at once: where both were listed late, no one
      // could tell that anything was there.
      const away = { owner: wallet.key, mint, amount: -amount };
      chain.send({ payer: key(), changes: [away], delay_ms: delay_ms + chain.slot_ms });
    }
    // What was forwarded cannot be undone alone: no account holds less than nothing.
    if (payers.chance(current.undone) && !forwards) undoSoon(made);
    return { txid: made.signature, amount };
  }

  /** A fork leaves it out some slots later; mostly it comes again. */
  function undoSoon({ signature }: SolanaTransaction): void {
    world.after(INCLUSION_MOST_MS + payers.unit() * 6_000, () => {
      const again = payers.chance(0.8) ? payers.unit() * 20_000 : null;
      if (chain.undo(signature, again)) world.note(`undone ${signature}`);
    });
  }

  return {
    blockchain: 'solana',
    chains: gateways.map((gateway) => gateway.chain),
    hosts: new Map([[HOST, solanaNode({ chain, view })]]),
    settings: { 'blockchains.solana.url': `http://${HOST}/`, 'blockchains.solana.provider': 'solana' },
    newWallet() {
      const scalar = BigInt(`0x${payers.hex(16)}`) + 1n;
      const address = base58.encode(ed25519.Point.BASE.multiply(scalar).toBytes());
      return { address, key: address };
    },
    pay,
    bump: () => null,
    takeBack: () => false,
    madeAt: ({ versions, sent_ms }) => {
      const made = sent.get(versions[0]?.txid ?? '');
      return made ? chain.timeOf(made.slot) : sent_ms;
    },
    standing: ({ versions }: Payment) => {
      const version = versions[0];
      return version && !sent.get(version.txid)?.undone ? version : null;
    },
    isSettled: ({ versions }: Payment) => {
      const made = sent.get(versions[0]?.txid ?? '');
      return (
        made !== undefined && chain.slotAt(world.now_ms) - made.slot > chain.final_slots + 8 && !made.undone
      );
    },
    traps: (wallet) =>
      gateways.flatMap(({ token_contract }) => {
        if (!token_contract) return [];
        const address = chain.accountKey(wallet.key, token_contract);
        return [{ address, key: address }];
      }),
    dust(wallet) {
      const order = { chain: 'solana', wallet, amount: DUST_LAMPORTS, memo: null, reference: null };
      if (!payers.chance(current.never_given)) return { chain: order.chain, version: pay(order) };
      const change = { owner: wallet.key, mint: null, amount: DUST_LAMPORTS };
      const give_delay_ms = Number.POSITIVE_INFINITY;
      chain.send({ payer: key(), changes: [change], delay_ms: inclusion(), give_delay_ms });
      return null;
    },
    flood: FLOOD,
    shownAt({ versions }) {
      const made = sent.get(versions[0]?.txid ?? '');
      if (!made || made.undone) return null;
      return Math.max(made.listed_at_ms, made.given_at_ms, chain.timeOf(made.slot + chain.final_slots));
    },
    lie() {},
    start() {},
    calm() {
      current = { ...NO_SOLANA_FAULTS, page_cap: faults.page_cap };
    },
  };
}
