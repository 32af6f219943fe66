// The toy chain, and the API of its provider: a block each second, payments with a number each.
import { createHash } from 'node:crypto';
import { type Front, json } from '../../simulator/chains/front.ts';
import { toyChecksum } from './family.ts';

interface Payment {
  number: number;
  txid: string;
  to: string;
  amount: string;
  memo: string | null;
  height: number;
  time: number;
}

const START = 1_500_000_000;
const MOST = 50;

export interface ToyModel {
  address(): string;
  pay(payment: { to: string; amount: bigint; memo: string | null }): Payment;
  front: Front;
}

/** `now`: Unix seconds; `seen`: as of when the provider answers. */
export function createToyModel(now: () => number, seen = now): ToyModel {
  const payments: Payment[] = [];
  let addresses = 0;
  return {
    address() {
      const body = (++addresses).toString(16).padStart(16, '0');
      return `toy1${body}${toyChecksum(body)}`;
    },
    pay({ to, amount, memo }) {
      const number = payments.length + 1;
      const txid = createHash('sha256').update(`${number}`).digest('hex');
      const made = { number, txid, to, amount: `${amount}`, memo, height: now() - START, time: now() };
      payments.push(made);
      return made;
    },
    front: ({ path, query }) => {
      if (path === '/tip') return json({ network: 'testnet', height: seen() - START, time: seen() });
      if (path !== '/payments') return json({ error: 'not found' }, 404);
      const [after, txid] = [Number(query.get('after') ?? 0), query.get('txid')];
      const shown = payments.filter((each) => each.time <= seen());
      const found = shown.filter((each) => (txid === null ? each.number > after : each.txid === txid));
      return json(found.slice(0, Math.min(MOST, Number(query.get('limit') ?? MOST))));
    },
  };
}
