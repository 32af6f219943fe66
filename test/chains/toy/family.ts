// A family as small as one can be: a chain of one coin, whose provider numbers all payments from the first one.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { z } from 'zod';
import {
  AddressError,
  type ChainAddress,
  type Family,
  type Gateway,
  type Json,
  type Page,
  ProviderError,
  type ReadContext,
  type ReadRequest,
  type Rpc,
  type Tip,
  type Transfer,
} from '../../../src/chains/family.ts';

const SCHEME = 'toy';
/** Payments in one answer. */
const PAGE = 50;
/** How long a payment may take to get its number. */
const LATE_SECONDS = 5;
/** A tip that is further ahead of our clock is none. */
const AHEAD_SECONDS = 7200;

const tipSchema = z.object({ network: z.enum(['mainnet', 'testnet']), height: z.int(), time: z.int() });
const paymentSchema = z.object({
  number: z.int(),
  txid: z.string(),
  to: z.string(),
  amount: z.string().transform(BigInt),
  memo: z.string().nullable(),
  height: z.int(),
  time: z.int(),
});
const cursorSchema = z.object({ number: z.int(), height: z.int() });

type Payment = z.output<typeof paymentSchema>;

export const toyChecksum = (body: string): string => bytesToHex(sha256(utf8ToBytes(body))).slice(0, 4);

function normalizeAddress(text: string): ChainAddress {
  const [, body = '', sum] = /^toy1([0-9a-f]{16})([0-9a-f]{4})$/.exec(text) ?? [];
  if (!sum) throw new AddressError('This is no toy address: it begins with toy1');
  if (sum !== toyChecksum(body)) throw new AddressError('The checksum of this address is wrong');
  return { address: text, key: text };
}

function parsed<T>(schema: z.ZodType<T>, value: unknown): T {
  const { data, error } = schema.safeParse(value);
  if (error) throw new ProviderError('bad_answer', `the toy provider answers oddly: ${error.message}`);
  return data as T;
}

async function tipOf(rpc: Rpc, now: number): Promise<Tip> {
  const { height, time } = parsed(tipSchema, await rpc.json('/tip'));
  if (time - now > AHEAD_SECONDS) throw new ProviderError('bad_answer', 'the toy tip is of a time to come');
  return { height, hash: null, time };
}

function transferOf(payment: Payment, { chain }: Gateway, tip: Tip, local: ReadContext['local']): Transfer {
  const { txid, to, amount, memo, height, time } = payment;
  const confirmations = Math.max(1, tip.height - height + 1);
  return {
    ...local(time),
    chain,
    address_key: to,
    txid,
    index: '0',
    amount_atomic: amount,
    memo: memo?.trim() || null,
    references: [],
    sender: null,
    height,
    block_hash: null,
    inputs: [],
    confirmations,
    final: true,
  };
}

async function* read(context: ReadContext, request: ReadRequest): AsyncGenerator<Page> {
  const { rpc, gateways, local, now } = context;
  const tip = await tipOf(rpc, now());
  const gateway = gateways[0] as Gateway;
  const watched = new Map((await request.addresses()).map((each) => [each.key, each]));
  const stored = cursorSchema.safeParse(request.cursor).data ?? { number: 0, height: 0 };
  for (let { number } = stored, isFull = true; isFull; ) {
    const after = { query: { after: number, limit: PAGE } };
    const payments = parsed(z.array(paymentSchema), await rpc.json('/payments', after));
    isFull = payments.length === PAGE;
    number = payments.at(-1)?.number ?? number;
    const ours = payments.filter(
      ({ to, time }) => local(time).latest_at >= (watched.get(to)?.since ?? Infinity),
    );
    const transfers = ours.map((each) => transferOf(each, gateway, tip, local));
    const proved = { read_through: Math.min(now(), local(tip.time - LATE_SECONDS).earliest_at) };
    yield { transfers, cursor: { number, height: tip.height }, tip, ...(isFull ? {} : proved) };
  }
}

/** One provider, and no memory: each reading begins at its cursor. */
export const toy: Family = {
  providers: [{ kind: 'toy', needs_url: true, key_header: 'toy-key' }],
  uri_schemes: [SCHEME],
  keeps_time: true,
  normalizeAddress,
  normalizeTxid: (text) => text.trim().toLowerCase(),
  paymentLinks({ gateway, address, amount_atomic, memo }) {
    const order = `${address}?amount=${amount_atomic}${memo ? `&memo=${encodeURIComponent(memo)}` : ''}`;
    const uri = `${SCHEME}:${order}`;
    const links: Record<string, string> = { wallet: uri, web: `https://toybox.example/pay/${order}` };
    return {
      uri,
      exits: Object.fromEntries(Object.entries(links).filter(([kind]) => gateway.exits.includes(kind))),
    };
  },
  walletLinks: ({ address, amount_atomic }) => [
    {
      wallet: { id: 'toybox', name: 'Toy Box' },
      href: `https://toybox.example/pay/${address}?amount=${amount_atomic}`,
      opens_on: ['phone', 'desktop'],
    },
    { wallet: null, href: `${SCHEME}:${address}?amount=${amount_atomic}`, opens_on: ['desktop'] },
  ],
  cursorHeight: (cursor: Json | null) => cursorSchema.safeParse(cursor).data?.height ?? null,
  identify: async (rpc) => parsed(tipSchema, await rpc.json('/tip')).network,
  open: () => ({
    read,
    // What has a number stays.
    recheck: async ({ gateways }, pending, tip) =>
      pending.flatMap(({ txid, index, height, block_hash }) => {
        if (height === null || tip === null) return [];
        const confirmations = Math.max(1, tip.height - height + 1);
        const isDeep = confirmations >= (gateways[0]?.min_confirmations ?? 1);
        return { txid, index, state: isDeep ? 'final' : 'pending', confirmations, height, block_hash };
      }),
    async lookUp({ rpc, local, now }, { txid, address_key, gateway }) {
      const named = parsed(z.array(paymentSchema), await rpc.json('/payments', { query: { txid } }));
      const tip = await tipOf(rpc, now());
      const ours = named.filter(({ to }) => to === address_key);
      return ours.map((each) => transferOf(each, gateway, tip, local));
    },
  }),
};
