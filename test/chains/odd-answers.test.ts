// Providers that answer oddly: no crash, no wrong booking, and the honest payment is booked once when they are sane again.
import { describe, expect, it, onTestFinished } from 'vitest';
import { networks } from '../../src/chains/evm/networks.ts';
import { ProviderError } from '../../src/chains/family.ts';
import { disabledGatewaysOf, gatewaysOf } from '../../src/chains/gateways.ts';
import { verifyChain } from '../helpers/books.ts';
import type { OddChain } from './odd/chain.ts';
import { evmChain, type OddToken } from './odd/evm.ts';
import { type Mutation, mutationsOf } from './odd/mutations.ts';
import { openShop, type Shop } from './odd/shop.ts';
import { solanaChain, TOKEN_ACCOUNT_LAMPORTS } from './odd/solana.ts';
import { tonChain } from './odd/ton.ts';
import { utxoChain } from './odd/utxo.ts';

const START = 1_800_000_000;
/** Mutations tried of each kind of provider: every n-th of some thousands, always the same ones. */
const SAMPLE = 24;
/** Checks of a paid invoice in which answers may be spoiled. */
const SPOILED_CHECKS = 3;
/** Checks after which a payment must be booked once the provider is sane. */
const SANE_CHECKS = 6;
/** Requests of one check, whatever was answered; the first one of a chain of blocks searches for its beginning. */
const REQUESTS_PER_CHECK = 50;

const mints = Object.fromEntries(
  gatewaysOf('testnet').flatMap(({ blockchain, chain, token_contract }) =>
    blockchain === 'solana' && token_contract ? [[chain, token_contract]] : [],
  ),
);

function tokenOf(chain: string): OddToken {
  const found = disabledGatewaysOf('testnet').find((gateway) => gateway.chain === chain);
  if (!found?.token_contract) throw new Error(`no contract of ${chain}`);
  const { blockchain, token_contract, decimals } = found;
  const { testnet: chain_id } = networks[blockchain as keyof typeof networks].chain_ids;
  return { chain, blockchain, chain_id, contract: token_contract.toLowerCase(), decimals };
}

interface World {
  chain: OddChain & { mine?: () => void };
  gateway: string;
  /** What one well-formed answer may claim without showing that it lies: amounts, whose memo it is, who signed, that it failed. */
  lies?: RegExp;
}

const lies =
  /^(meta\.(pre|post)(Token)?Balances|meta\.err|0\.err|value\.0\.err|transaction\.message\.(accountKeys|instructions))/;

const worlds: Record<string, () => World> = {
  toncenter: () => ({ chain: tonChain(START), gateway: 'ton' }),
  'toncenter, for a jetton': () => ({ chain: tonChain(START), gateway: 'ton-usdt' }),
  'a Solana node': () => ({ chain: solanaChain(START, mints), gateway: 'solana', lies }),
  'a Solana node, for a token': () => ({ chain: solanaChain(START, mints), gateway: 'solana-usdc', lies }),
  Esplora: () => ({ chain: utxoChain('esplora', START), gateway: 'bitcoin' }),
  'an EVM node, by hashes': () => ({ chain: evmChain(tokenOf('base-usdc'), START), gateway: 'base-usdc' }),
  'an EVM node, by ranges': () => ({ chain: evmChain(tokenOf('bsc-usdc'), START), gateway: 'bsc-usdc' }),
  'a Bitcoin node': () => ({ chain: utxoChain('core', START), gateway: 'bitcoin' }),
};

/** Sees every answer in the checks that may be spoiled: the number of the check and of the answer in it, and to what it answers. */
type Spoil = (answer: unknown, at: { check: number; nth: number; name: string }) => unknown;

/** Pays one invoice and checks it, three times while answers may be spoiled and then until it is booked; returns what went wrong. */
async function pay({ chain, gateway }: World, shop: Shop, price: string, spoil: Spoil): Promise<string[]> {
  const wrong: string[] = [];
  const invoice = await shop.invoice(gateway, price);
  const check = async () => {
    const from = chain.rpc.asked.length;
    const { status, json } = await shop.check(invoice);
    if (status !== 200 && status !== 503) wrong.push(`answered ${status}`);
    const asked = chain.rpc.asked.length - from;
    if (asked > REQUESTS_PER_CHECK) wrong.push(`asked ${asked} times in one check`);
    return json;
  };
  await check();
  const txid = chain.pay(invoice);
  for (let at = 0; at < SPOILED_CHECKS; at++) {
    let nth = 0;
    chain.rpc.spoil = (name, answer) => spoil(answer, { check: at, nth: nth++, name });
    const { confirmations } = await check();
    if (chain.mine && Number(confirmations) > at) wrong.push(`believed ${confirmations} confirmations`);
    chain.mine?.();
  }
  chain.rpc.spoil = honest;
  let json = await check();
  for (let again = 1; again < SANE_CHECKS && json.status !== 'confirmed'; again++) json = await check();
  const { status, received_amount, amount, txid: booked } = json;
  if (status !== 'confirmed' || received_amount !== amount || booked !== txid)
    wrong.push(`${status} with ${received_amount} of ${amount} in ${booked}`);
  return wrong;
}

const honest = (_: unknown, answer: unknown) => answer;

const failures: Mutation[] = (['unreachable', 'rate_limited', 'bad_answer', 'rpc'] as const).map((kind) => ({
  name: `fails: ${kind}`,
  apply() {
    throw new ProviderError(kind, 'on purpose', -32_005);
  },
}));

/** Pays honestly, and returns every way to spoil one answer of that. */
async function everyWay(world: World, shop: Shop) {
  const ways: { name: string; spoil: Spoil }[] = [];
  const wrong = await pay(world, shop, '10', (answer, { check, nth, name }) => {
    for (const { name: what, apply } of [...failures, ...mutationsOf(answer)]) {
      if (world.lies?.test(what)) continue;
      const spoil: Spoil = (given, at) => (at.check === check && at.nth === nth ? apply(given) : given);
      ways.push({ name: `check ${check}, ${name}: ${what}`, spoil });
    }
    return answer;
  });
  expect(wrong).toEqual([]);
  return ways;
}

async function open(kind: string) {
  const world = worlds[kind]?.() as World;
  const shop = await openShop(world.chain);
  onTestFinished(() => shop.test.stop());
  return { world, shop };
}

/** What came to each address is what is stored, and all of it is booked once. */
async function expectBooked({ chain }: World, { test, merchant }: Shop, payments: number): Promise<void> {
  const { query } = test.app.db;
  const sums = new Map<string, bigint>();
  for (const row of await query.selectFrom('transfers').selectAll().execute()) {
    const key = `${row.chain} ${row.address_key}`;
    sums.set(key, (sums.get(key) ?? 0n) + BigInt(row.amount_atomic));
  }
  expect(sums).toEqual(chain.received);
  expect(await query.selectFrom('income').select('invoice_id').execute()).toHaveLength(payments);
  // The credit, and one fee for each.
  expect(await verifyChain(test, merchant.id)).toBe(payments + 1);
}

describe.each(Object.keys(worlds))('%s', (kind) => {
  it('may answer anything once: nothing crashes, and what was paid is booked once, in full', async () => {
    const { world, shop } = await open(kind);
    const ways = await everyWay(world, shop);
    const step = Math.floor(ways.length / SAMPLE);
    const tried = ways.filter((_, at) => at % step === 0);
    const wrong: string[] = [];
    for (const [at, { name, spoil }] of tried.entries())
      for (const each of await pay(world, shop, String(11 + at / 4), spoil)) wrong.push(`${name}: ${each}`);
    expect(wrong).toEqual([]);
    expect(tried.length).toBeGreaterThanOrEqual(SAMPLE);
    await expectBooked(world, shop, tried.length + 1);
  });
});

/** Changes answers to one kind of request, in all checks that may be spoiled. */
const changed =
  (request: RegExp, change: (answer: never) => unknown): Spoil =>
  (answer, { name }) =>
    request.test(name) ? change(answer as never) : answer;

const HUGE = 2 ** 52;
type Row = Record<string, unknown>;

describe('what a provider reported once', () => {
  it.each<[kind: string, what: string, spoil: Spoil]>([
    [
      'toncenter',
      'a last block of the far future',
      changed(/masterchain/, ({ last }: { last: Row }) => ({ last: { ...last, gen_utime: HUGE } })),
    ],
    [
      'toncenter',
      'transactions without their block',
      changed(/transactions/, ({ transactions }: { transactions: Row[] }) => ({
        transactions: transactions.map(({ mc_block_seqno, ...row }) => row),
      })),
    ],
    [
      'toncenter',
      'transactions of the far future',
      changed(/transactions/, ({ transactions }: { transactions: Row[] }) => ({
        transactions: transactions.map((row) => ({ ...row, now: HUGE })),
      })),
    ],
    [
      'a Solana node',
      'a listing in a slot that is not there yet',
      changed(/Signatures/, (listed: Row[]) => listed.map((row) => ({ ...row, slot: HUGE }))),
    ],
    [
      'a Solana node',
      'a listing of the far future',
      changed(/Signatures/, (listed: Row[]) => listed.map((row) => ({ ...row, blockTime: HUGE }))),
    ],
    [
      'a Solana node',
      'balances in fractions',
      changed(/getTransaction/, ({ meta, ...row }: { meta: { postBalances: number[] } }) => ({
        ...row,
        meta: { ...meta, postBalances: meta.postBalances.map((each) => each + 0.5) },
      })),
    ],
    [
      'a Solana node',
      'a failure on a branch that lost',
      changed(/Statuses/, ({ value, ...row }: { value: Row[] }) => ({
        ...row,
        value: value.map((each) => ({
          ...each,
          err: { InstructionError: [0, 'Custom'] },
          confirmationStatus: 'processed',
        })),
      })),
    ],
    [
      'a Solana node, for a token',
      'a token account that is not parsed',
      changed(/Accounts/, ({ value, ...row }: { value: Row[] }) => ({
        ...row,
        value: value.map((each) =>
          each?.lamports === TOKEN_ACCOUNT_LAMPORTS ? { ...each, data: ['AA==', 'base64'] } : each,
        ),
      })),
    ],
    ['Esplora', 'null in a list', changed(/mempool/, (listed: Row[]) => [...listed, null])],
    [
      'Esplora',
      'the bytes of another transaction',
      changed(/\/hex$/, (hex: string) => hex.replace(/^02/, '01')),
    ],
    [
      'Esplora',
      'a tip of another height',
      changed(/^\/block\/\w+$/, (block: { height: number }) => ({ ...block, height: block.height + 9 })),
    ],
    [
      'a Bitcoin node',
      'a tip of another height',
      changed(/getblockheader/, (header: { height: number }) => ({ ...header, height: header.height + 9 })),
    ],
  ])('%s: %s is forgotten when it is sane again', async (kind, _, spoil) => {
    const { world, shop } = await open(kind);
    expect(await pay(world, shop, '10', spoil)).toEqual([]);
    expect(await pay(world, shop, '11', (answer) => answer)).toEqual([]);
    await expectBooked(world, shop, 2);
  });

  it('is not what a mempool is listed with: amounts are those of the bytes', async () => {
    const { world, shop } = await open('Esplora');
    const lie = changed(/mempool/, (listed: { vout: Row[] }[]) =>
      listed.map((row) => ({ ...row, vout: row.vout.map((output) => ({ ...output, value: HUGE })) })),
    );
    expect(await pay(world, shop, '10', lie)).toEqual([]);
    await expectBooked(world, shop, 1);
  });
});
