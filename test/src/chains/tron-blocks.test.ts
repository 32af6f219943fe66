// What blocks of TRON's own API say that transactions take of those who made them.
import { expect, it } from 'vitest';
import type { Rpc } from '../../../src/chains/family.ts';
import { readBlocks } from '../../../src/chains/tron/blocks.ts';
import { contractTransaction, plantedId, tronHex } from '../../chains/tron-transactions.ts';

const owner_address = tronHex(`0x${'77'.repeat(20)}`);
const ID = (1).toString(16).padStart(16, '0') + '00'.repeat(24);

async function taken(type: string, value: object, ret?: unknown): Promise<bigint | undefined> {
  const made = contractTransaction(plantedId(type), type, { owner_address, ...value }, ret);
  const block_header = { raw_data: { number: 1, timestamp: 3000, parentHash: '00'.repeat(32) } };
  const block = [{ blockID: ID, block_header, transactions: [made] }];
  const rpc = { text: async () => JSON.stringify({ block }) } as unknown as Rpc;
  const [found] = await readBlocks(rpc, 1, 1);
  return found?.spendings[0]?.amount;
}

const COIN = '5f';
const TOKEN = '31303030303031';
it.each<[string, object, bigint]>([
  ['TransferContract', { to_address: owner_address, amount: 5 }, 5n],
  ['TriggerSmartContract', { call_value: 5, call_token_value: 7 }, 5n],
  ['CreateSmartContract', { call_value: 7, new_contract: { call_value: 5 } }, 5n],
  ['CreateSmartContract', { new_contract: {} }, 0n],
  ['CreateSmartContract', {}, 0n],
  ['FreezeBalanceV2Contract', { frozen_balance: 5 }, 5n],
  ['ParticipateAssetIssueContract', { amount: 5 }, 5n],
  [
    'ExchangeCreateContract',
    { first_token_id: TOKEN, first_token_balance: 7, second_token_id: COIN, second_token_balance: 5 },
    5n,
  ],
  ['ExchangeInjectContract', { token_id: COIN, quant: 5 }, 5n],
  ['ExchangeInjectContract', { token_id: TOKEN, quant: 5 }, 0n],
  ['ExchangeTransactionContract', { token_id: COIN, quant: 5, expected: 7 }, 5n],
  ['ExchangeTransactionContract', { token_id: TOKEN, quant: 5, expected: 7 }, 0n],
  ['ExchangeWithdrawContract', { token_id: COIN, quant: 5 }, 0n],
  ['MarketSellAssetContract', { sell_token_id: COIN, sell_token_quantity: 5 }, 5n],
  ['MarketSellAssetContract', { sell_token_id: TOKEN, sell_token_quantity: 5 }, 0n],
  ['TransferAssetContract', { asset_name: TOKEN, amount: 5 }, 0n],
  ['constructor', { amount: 5 }, 0n],
])('%s with %j takes %d of its sender', async (type, value, amount) => {
  expect(await taken(type, value)).toBe(amount);
});

it('takes nothing where it failed', async () => {
  expect(
    await taken('CreateSmartContract', { new_contract: { call_value: 5 } }, [{ contractRet: 'REVERT' }]),
  ).toBe(0n);
});
