// What addresses of TRON have as of blocks that no branch replaces: its node knows no other balance, but the newest one.
import * as z from 'zod';
import { wordsOf } from '../evm/answers.ts';
import { balancesCode } from '../evm/balances.ts';
import type { Held } from '../evm/cursor.ts';
import type { SolidBalances, SolidCoins } from '../evm/networks.ts';
import { type Json, ProviderError, type Rpc } from '../family.ts';
import { addressOf, ask, badAnswer, check, hash, sun } from './api.ts';
import { bareBlock, heightIn } from './blocks.ts';

/** In whose name code is run: no one has it. */
const NO_ONE = addressOf(`0x${'00'.repeat(20)}`);

const none = sun.default(0n);
const ran = z.object({ constant_result: z.tuple([z.string()]) });
const account = z.object({ balance: none });
const cost = z.object({
  id: hash,
  fee: none,
  /** What the network gave back or handed out with it. */
  withdraw_amount: none,
  unfreeze_amount: none,
  withdraw_expire_amount: none,
});

const askSolid = (rpc: Rpc, method: string, body: Json) => ask(rpc, 'walletsolidity', method, body);

export const solidCoins: SolidCoins = {
  newest,
  balances: (rpc, keys, by_code) => (by_code ? byCode(rpc, keys) : oneByOne(rpc, keys)),
  change,
};

async function newest(rpc: Rpc): Promise<Held> {
  const { blockID, block_header } = check(
    bareBlock,
    await askSolid(rpc, 'getnowblock', {}),
    'the newest block',
  );
  const { number } = block_header.raw_data;
  if (heightIn(blockID) !== number) throw badAnswer(`block ${number} came as another one`);
  return [number, `0x${blockID}`];
}

/** The code runs on one block, and says which. */
async function byCode(rpc: Rpc, keys: readonly string[]): Promise<SolidBalances> {
  const data = balancesCode(keys, true).slice(2);
  const answer = await askSolid(rpc, 'triggerconstantcontract', { owner_address: NO_ONE, data });
  const { data: found } = ran.safeParse(answer);
  const words = wordsOf(`0x${found?.constant_result[0] ?? ''}`, keys.length + 1);
  if (!words)
    throw new ProviderError('rpc', `triggerconstantcontract: ${JSON.stringify(answer).slice(0, 200)}`);
  return { height: Number(words.at(-1)), balances: words.slice(0, -1) };
}

/** The newest block must be the same before and after. */
async function oneByOne(rpc: Rpc, keys: readonly string[]): Promise<SolidBalances> {
  const [height] = await newest(rpc);
  const balances: bigint[] = [];
  for (const key of keys) {
    const answer = await askSolid(rpc, 'getaccount', { address: addressOf(key) });
    balances.push(check(account, answer, `the account ${key}`).balance);
  }
  if ((await newest(rpc))[0] !== height) throw badAnswer('a block was made while balances were read');
  return { height, balances };
}

async function change(rpc: Rpc, txid: string): Promise<bigint> {
  const answer = await askSolid(rpc, 'gettransactioninfobyid', { value: txid.slice(2) });
  const found = check(cost, answer, `what transaction ${txid} cost`);
  if (`0x${found.id}` !== txid) throw badAnswer(`transaction ${txid} was asked, another came`);
  const { fee, withdraw_amount, unfreeze_amount, withdraw_expire_amount } = found;
  return withdraw_amount + unfreeze_amount + withdraw_expire_amount - fee;
}
