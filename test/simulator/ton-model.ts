// TON in the virtual world: the model chain behind replicas of toncenter that are behind, late, or leave rows out.
import { Address } from '@ton/core';
import { gatewaysOf } from '../../src/chains/gateways.ts';
import type { ModelRequest } from './chains/front.ts';
import { comment, internalTransfer, keyOf, TonChain } from './chains/ton.ts';
import { type TonView, toncenter } from './chains/toncenter.ts';
import type { Manner, Model, ModelOptions, Order, Payment, Version, Wallet } from './model.ts';

/** Probabilities, and how bad it is then. */
export interface TonFaults {
  /** Of a request: it comes to a replica that is far behind … */
  far_behind: number;
  /** … by up to so much. */
  behind_ms: number;
  /** Of a transaction: the index has it later than its block … */
  late_index: number;
  /** … by up to so much. */
  late_ms: number;
  /** Of a request: one row of its answer is left out. */
  omits_row: number;
  /** Of a request: the first page is given, whatever page is asked. */
  repeats_page: number;
  /** Of a stretch of some minutes: no jetton master is found in it. */
  lacks_masters: number;
  /** The most rows of a page. */
  page_cap: number;
}

export const NO_TON_FAULTS: TonFaults = {
  far_behind: 0,
  behind_ms: 0,
  late_index: 0,
  late_ms: 0,
  omits_row: 0,
  repeats_page: 0,
  lacks_masters: 0,
  page_cap: 1000,
};

const HOST = 'toncenter.example';
const BLOCK_MS = 500;
/** How far behind a good replica is. */
const LAG_MEAN_MS = 700;
const LAG_MOST_MS = 4_000;
const NOISE_VALUE = 50_000_000n;
/** How long the jetton masters are found, or are not. */
const STRETCH_MS = { least: 30_000, most: 300_000 };
const NOTIFIES = 0.7;
const FORGED_EXIT_CODE = 707;

export function tonModel({ world, random, faults }: ModelOptions & { faults: TonFaults }): Model {
  let current = faults;
  const chain = new TonChain({ random: random.fork('chain'), now: () => world.now_ms, block_ms: BLOCK_MS });
  const gateways = gatewaysOf('testnet').filter(({ blockchain }) => blockchain === 'ton');
  const masterOf = (id: string): string | null =>
    gateways.find((gateway) => gateway.chain === id)?.token_contract ?? null;
  for (const { token_contract } of gateways) if (token_contract) chain.addJetton(token_contract);
  const views = random.fork('views');
  const stretches = random.fork('stretches');
  let stretch = { until_ms: 0, lacks_masters: false };
  const payers = random.fork('payers');
  const stranger = () => `0:${payers.hex(32).toUpperCase()}`;

  /** Whether no jetton master is found now. */
  function lacksMasters(): boolean {
    if (world.now_ms >= stretch.until_ms) {
      const lacks_masters = stretches.chance(current.lacks_masters);
      stretch = { until_ms: world.now_ms + stretches.int(STRETCH_MS.least, STRETCH_MS.most), lacks_masters };
      if (lacks_masters) world.note('jetton masters are not found');
    }
    return stretch.lacks_masters && current.lacks_masters > 0;
  }

  function view({ path }: ModelRequest): TonView {
    const lag_ms = views.chance(current.far_behind)
      ? views.unit() * current.behind_ms
      : Math.min(LAG_MOST_MS, views.exponential(LAG_MEAN_MS));
    const omits = path.endsWith('/transactions') && views.chance(current.omits_row) ? views.int(0, 3) : -1;
    let row = 0;
    return {
      tip_seqno: Math.max(chain.firstSeqno, chain.seqnoAt(world.now_ms - lag_ms)),
      shows: (each) => each.indexed_at_ms <= world.now_ms && row++ !== omits,
      page_cap: current.page_cap,
      repeats_pages: views.chance(current.repeats_page),
      lacks_masters: lacksMasters(),
    };
  }

  const delay = () => (payers.chance(current.late_index) ? payers.unit() * current.late_ms : 0);

  function pay({ chain: id, wallet, amount, memo }: Order, _: Manner = {}): Version {
    const master = masterOf(id);
    const from = stranger();
    if (payers.chance(0.05)) disturb(wallet, master, memo);
    const made = master
      ? chain.sendJetton({
          master,
          to: wallet.key,
          from,
          amount,
          comment: memo,
          notifies: payers.chance(NOTIFIES),
          index_delay_ms: delay(),
        })
      : chain.run({
          account: wallet.key,
          source: from,
          value: amount,
          body: comment(memo),
          index_delay_ms: delay(),
        });
    return { txid: Buffer.from(made.hash, 'base64').toString('hex'), amount };
  }

  /** What looks like a payment and is none: sent back, bounced, or a forged credit of jettons. */
  function disturb(wallet: Wallet, master: string | null, memo: string | null): void {
    const from = stranger();
    const [value, body] = [NOISE_VALUE, comment(memo)];
    if (payers.chance(0.5)) chain.run({ account: wallet.key, source: from, value, body, returned: true });
    else if (master)
      chain.run({
        account: chain.walletOf(master, wallet.key),
        source: from,
        value,
        body: internalTransfer({ amount: 10n ** 12n, from, comment: memo }),
        aborted: true,
        exit_code: FORGED_EXIT_CODE,
      });
    else chain.run({ account: wallet.key, source: from, value, body, bounced: true });
  }

  return {
    blockchain: 'ton',
    chains: gateways.map((gateway) => gateway.chain),
    hosts: new Map([[HOST, toncenter({ chain, view })]]),
    settings: { 'blockchains.ton.url': `http://${HOST}/api/v3`, 'blockchains.ton.provider': 'toncenter' },
    newWallet() {
      const key = stranger();
      return { address: Address.parseRaw(key).toString({ bounceable: false, testOnly: true }), key };
    },
    pay,
    bump: () => null,
    takeBack: () => false,
    madeAt: ({ sent_ms }) => sent_ms,
    standing: ({ versions }: Payment) => versions[0] ?? null,
    isSettled: () => true,
    traps: (wallet) =>
      gateways.flatMap(({ token_contract }) => {
        if (!token_contract) return [];
        const addresses = [chain.walletOf(token_contract, wallet.key), keyOf(token_contract)];
        return addresses.map((key) => ({ address: key, key }));
      }),
    dust(wallet) {
      const order = {
        chain: 'ton',
        wallet,
        amount: BigInt(payers.int(1, 1000)),
        memo: null,
        reference: null,
      };
      return { chain: order.chain, version: pay(order) };
    },
    flood: 0,
    shownAt: () => null,
    lie() {},
    start() {},
    calm() {
      current = { ...NO_TON_FAULTS, page_cap: faults.page_cap };
    },
  };
}
