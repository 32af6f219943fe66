// A buyer with a TON wallet who pays many invoices at once and keeps what the chain says that it paid.
import type { ComposedMessage } from '../../src/chains/family.ts';
import type { TonRecord } from '../chains/ton/ledger.ts';
import type { TonChain } from '../chains/ton-chain.ts';

const TON = 1_000_000_000n;

export interface Paid {
  /** Hex. */
  txid: string;
  /** Nano. */
  amount: bigint;
  memo: string;
  /** Chain time, Unix seconds. */
  time: number;
}

export interface Payer {
  /** The shop's receive address and the key it is stored under. */
  shop_address: string;
  shop_key: string;
  /** Everything that has arrived at the shop, in order. */
  paid: Paid[];
  /** The account that pays, in the raw form. */
  account: string;
  /** Signs and sends what a page hands over, as a wallet in the browser does; resolves when it is executed. */
  sign(messages: readonly ComposedMessage[]): Promise<void>;
  /** Pays in one message of the wallet; resolves when it is executed. */
  pay(...payments: { amount: bigint; memo: string }[]): Promise<Paid[]>;
}

export async function openPayer(chain: TonChain): Promise<Payer> {
  const buyer = await chain.createWallet({ version: 'v5', balance: 1_000_000n * TON });
  // Never deployed: what arrives stays all the same, and nothing but payments ever arrives.
  const shop = await chain.createWallet({ deployed: false });
  const paid: Paid[] = [];
  function arrivedOf(records: readonly TonRecord[], sent: number): Paid[] {
    const arrived = records.filter(({ account }) => account === shop.key).map(readPaid);
    if (arrived.length !== sent) throw new Error('a payment did not arrive on the chain');
    paid.push(...arrived);
    return arrived;
  }
  return {
    shop_address: shop.address,
    shop_key: shop.key,
    paid,
    account: buyer.at.toRawString(),
    async sign(messages) {
      arrivedOf(await chain.signAndSend(buyer, messages), messages.length);
    },
    async pay(...payments) {
      const transfers = payments.map(({ amount, memo }) => ({ to: shop, amount, comment: memo }));
      return arrivedOf(await chain.sendMany(buyer, transfers), payments.length);
    },
  };
}

function readPaid({ txid, transaction }: TonRecord): Paid {
  const message = transaction.inMessage;
  if (message?.info.type !== 'internal') throw new Error('not a payment');
  const text = message.body.beginParse().skip(32);
  return { txid, amount: message.info.value.coins, memo: text.loadStringTail(), time: transaction.now };
}

/** What an invoice asks for, in nano. */
export function nanoOf({ amount }: { amount: string }): bigint {
  const [whole = '0', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(9, '0'));
}
