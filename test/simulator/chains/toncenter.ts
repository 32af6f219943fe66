// toncenter v3 in front of the model of TON.
import { Address, beginCell, Cell } from '@ton/core';
import { type Front, json, type ModelAnswer, type ModelRequest } from './front.ts';
import { ELECTOR, keyOf, LT_PER_BLOCK, type TonChain, type TonTransaction } from './ton.ts';

const TESTNET_GLOBAL_ID = -3;
const DEFAULT_LIMIT = 10;
const MOST_LIMIT = 1000;
/** Logical times of the elector's two transactions in each masterchain block. */
const TICK = 1n;
const TOCK = 2n;
const NOT_INITIALIZED = -13;
const NO_SUCH_METHOD = 11;

/** What one replica of the provider knows at this moment. */
export interface TonView {
  /** The last masterchain block that it has. */
  tip_seqno: number;
  /** Whether its index has a transaction of a block that it has. */
  shows(transaction: TonTransaction): boolean;
  /** The most rows of one page, whatever is asked. */
  page_cap: number;
  /** It gives the first page again, whatever page is asked. */
  repeats_pages: boolean;
  /** It answers as if no jetton master were there. */
  lacks_masters: boolean;
}

export interface ToncenterOptions {
  chain: TonChain;
  /** Asked once for each request. */
  view(request: ModelRequest): TonView;
}

export function toncenter({ chain, view }: ToncenterOptions): Front {
  const visible = (account: string, { tip_seqno, shows }: TonView): TonTransaction[] =>
    chain.transactionsOf(account).filter((each) => each.mc_seqno <= tip_seqno && shows(each));

  function block(seqno: number) {
    return {
      workchain: -1,
      shard: '8000000000000000',
      seqno,
      global_id: TESTNET_GLOBAL_ID,
      gen_utime: String(Math.floor(chain.timeOf(seqno) / 1000)),
      start_lt: String(BigInt(seqno) * LT_PER_BLOCK),
      end_lt: String(BigInt(seqno) * LT_PER_BLOCK + 4n),
      masterchain_block_ref: { workchain: -1, shard: '8000000000000000', seqno },
    };
  }

  function transactions(query: URLSearchParams, seen: TonView): ModelAnswer {
    const limit = Number(query.get('limit') ?? DEFAULT_LIMIT);
    if (limit > MOST_LIMIT) return json({ error: `limit is not allowed: ${limit} > ${MOST_LIMIT}` }, 422);
    const accounts = query.getAll('account').map(keyOf);
    const number = (name: string): number | null => (query.has(name) ? Number(query.get(name)) : null);
    const lt = (name: string): bigint | null => (query.has(name) ? BigInt(query.get(name) ?? 0) : null);
    const [from, to, seqno] = [number('start_utime'), number('end_utime'), number('mc_seqno')];
    const [from_lt, to_lt, exact_lt] = [lt('start_lt'), lt('end_lt'), lt('lt')];
    const hash = query.get('hash');
    const wanted = hash === null ? null : hashOf(hash);
    const among = accounts.length > 0 ? [...new Set(accounts)] : [...chain.accounts.keys()];
    const rows = among
      .flatMap((account) => (account === ELECTOR ? electorRows(seen) : visible(account, seen)))
      .filter(
        (each) =>
          (from === null || each.utime >= from) &&
          (to === null || each.utime <= to) &&
          (from_lt === null || each.lt >= from_lt) &&
          (to_lt === null || each.lt <= to_lt) &&
          (exact_lt === null || each.lt === exact_lt) &&
          (seqno === null || each.mc_seqno === seqno) &&
          (wanted === null || each.hash === wanted),
      );
    const by_time = from !== null || to !== null;
    const direction = query.get('sort') === 'asc' ? 1 : -1;
    rows.sort((a, b) => direction * compare(a, b, by_time) || (a.account < b.account ? -1 : 1));
    const offset = seen.repeats_pages ? 0 : Number(query.get('offset') ?? 0);
    const page = rows.slice(offset, offset + Math.min(limit, seen.page_cap));
    return json({ transactions: page.map(transactionJson), address_book: {} });
  }

  /** The elector runs twice in each masterchain block: only its newest rows are of interest to anyone. */
  function electorRows({ tip_seqno }: TonView): TonTransaction[] {
    const at = (seqno: number, step: bigint): TonTransaction => ({
      account: ELECTOR,
      hash: electorHash(seqno, step),
      lt: BigInt(seqno) * LT_PER_BLOCK + step,
      previous_lt:
        step === TOCK ? BigInt(seqno) * LT_PER_BLOCK + TICK : BigInt(seqno - 1) * LT_PER_BLOCK + TOCK,
      previous_hash: step === TOCK ? electorHash(seqno, TICK) : electorHash(seqno - 1, TOCK),
      utime: Math.floor(chain.timeOf(seqno) / 1000),
      mc_seqno: seqno,
      message: { source: '', value: 0n, body: '', bounced: false },
      aborted: false,
      exit_code: 0,
      returned: false,
      indexed_at_ms: 0,
    });
    return [at(tip_seqno, TICK), at(tip_seqno, TOCK)];
  }

  function accountStates(query: URLSearchParams, seen: TonView): ModelAnswer {
    const accounts = query.getAll('address').map((text) => stateOf(keyOf(text), seen));
    return json({ accounts, address_book: {} });
  }

  function stateOf(account: string, seen: TonView) {
    // The state of an account is as old as the replica: only the index of transactions may lack one.
    const known = chain.transactionsOf(account).filter((each) => each.mc_seqno <= seen.tip_seqno);
    const last = account === ELECTOR ? electorRows(seen).at(-1) : known.at(-1);
    const wallet = chain.jettonWallet(account);
    const exists = last !== undefined || chain.isMaster(account);
    return {
      address: account,
      account_state_hash: null,
      balance: '1000000000',
      status: exists ? 'active' : 'nonexist',
      last_transaction_lt: String(last?.lt ?? 0n),
      last_transaction_hash: last?.hash ?? null,
      interfaces: wallet && last ? ['jetton_wallet'] : chain.isMaster(account) ? ['jetton_master'] : [],
    };
  }

  const isThere = (account: string, { tip_seqno }: TonView): boolean =>
    chain.transactionsOf(account).some((each) => each.mc_seqno <= tip_seqno);

  function runGetMethod(body: string | null, seen: TonView): ModelAnswer {
    const { address, method, stack } = JSON.parse(body ?? '{}') as {
      address: string;
      method: string;
      stack: { type: string; value: string }[];
    };
    const account = keyOf(address);
    const failed = (exit_code: number) => json({ gas_used: 0, exit_code, stack: [] });
    const isMaster = chain.isMaster(account) && !seen.lacks_masters;
    if (method === 'get_wallet_address') {
      if (!isMaster) return failed(isThere(account, seen) ? NO_SUCH_METHOD : NOT_INITIALIZED);
      const owner = keyOf(
        Cell.fromBase64(stack[0]?.value ?? '')
          .beginParse()
          .loadAddress()
          .toRawString(),
      );
      return json({ gas_used: 1, exit_code: 0, stack: [addressItem(chain.walletOf(account, owner))] });
    }
    if (method === 'get_wallet_data') {
      const wallet = chain.jettonWallet(account);
      if (!wallet || !isThere(account, seen))
        return failed(isThere(account, seen) ? NO_SUCH_METHOD : NOT_INITIALIZED);
      const code = { type: 'cell', value: beginCell().endCell().toBoc().toString('base64') };
      const data = [
        { type: 'num', value: '0x1' },
        addressItem(wallet.owner),
        addressItem(wallet.master),
        code,
      ];
      return json({ gas_used: 1, exit_code: 0, stack: data });
    }
    if (method === 'get_jetton_data' && isMaster)
      return json({
        gas_used: 1,
        exit_code: 0,
        stack: [
          { type: 'num', value: '0x1' },
          { type: 'num', value: '-0x1' },
          addressItem(ELECTOR),
          { type: 'cell', value: beginCell().endCell().toBoc().toString('base64') },
          { type: 'cell', value: beginCell().endCell().toBoc().toString('base64') },
        ],
      });
    return failed(NO_SUCH_METHOD);
  }

  return (request) => {
    const seen = view(request);
    const { path, query, body } = request;
    if (path.endsWith('/masterchainInfo'))
      return json({ last: block(seen.tip_seqno), first: block(chain.firstSeqno) });
    if (path.endsWith('/transactions')) return transactions(query, seen);
    if (path.endsWith('/accountStates')) return accountStates(query, seen);
    if (path.endsWith('/runGetMethod')) return runGetMethod(body, seen);
    return json({ error: 'not found' }, 404);
  };
}

function compare(a: TonTransaction, b: TonTransaction, by_time: boolean): number {
  if (by_time && a.utime !== b.utime) return a.utime - b.utime;
  return a.lt < b.lt ? -1 : a.lt > b.lt ? 1 : 0;
}

const hashOf = (text: string): string =>
  /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex').toString('base64') : text.replaceAll(' ', '+');

const electorHash = (seqno: number, step: bigint): string => {
  const bytes = Buffer.alloc(32, 0xe1);
  bytes.writeUInt32BE(seqno);
  bytes.writeUInt8(Number(step), 4);
  return bytes.toString('base64');
};

const addressItem = (account: string) => ({
  type: 'cell',
  value: beginCell().storeAddress(Address.parse(account)).endCell().toBoc().toString('base64'),
});

function transactionJson(row: TonTransaction) {
  const { message, aborted, exit_code, returned } = row;
  const isElector = row.account === ELECTOR;
  return {
    account: row.account,
    hash: row.hash,
    lt: String(row.lt),
    now: row.utime,
    mc_block_seqno: row.mc_seqno,
    prev_trans_hash: row.previous_hash,
    prev_trans_lt: String(row.previous_lt),
    orig_status: 'active',
    end_status: 'active',
    emulated: false,
    finality: 'finalized',
    description: {
      type: isElector ? 'tick_tock' : 'ord',
      aborted,
      compute_ph: { skipped: false, success: exit_code === 0, exit_code },
      action: { success: exit_code === 0 },
      ...(returned ? { bounce: { type: 'ok' } } : {}),
    },
    in_msg: isElector
      ? null
      : {
          hash: row.hash,
          source: message.source,
          destination: row.account,
          value: String(message.value),
          opcode: null,
          bounce: false,
          bounced: message.bounced,
          created_lt: String(row.lt - 1n),
          message_content: { hash: row.hash, body: message.body, decoded: null },
        },
    out_msgs: [],
  };
}
