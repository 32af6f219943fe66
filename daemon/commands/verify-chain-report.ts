// How `gatewayd verify --chain` shows law 22: for each address and asset what the chain has, and what the books say of it.
import type { AccountBalance, ChainFault } from '../../data/verify/chain.ts';
import type { Catalogue } from '../../src/chains/catalogue.ts';
import { formatDecimal } from '../../src/money.ts';

export const CHAIN_LAW = 22;

/** Amounts are decimals of whole coins. */
export interface ShownBalance {
  blockchain: string;
  address: string;
  /** Gateway id. */
  chain: string;
  currency: string;
  /** ISO 8601; null where nothing is proved. */
  proved_through: string | null;
  on_chain: string;
  matched: string;
  late: string;
  unmatched: string;
  /** Below any price worth asking: counted, and not listed. */
  dust: string;
  /** Named reasons for a difference with nothing wrong; less than zero where the books have more. */
  exclusions: Record<string, string>;
  difference: string;
  faults: ChainFault[];
  unread: string | null;
  ok: boolean;
}

export function shownBalance(balance: AccountBalance, { values }: Pick<Catalogue, 'values'>): ShownBalance {
  const { blockchain, address, chain, proved_through, faults, unread, ok } = balance;
  const { decimals = 0, asset } = values.find((value) => value.chain === chain) ?? {};
  const currency = asset?.currency ?? chain;
  const coin = (atomic: bigint): string =>
    atomic < 0n ? `-${formatDecimal(-atomic, decimals)}` : formatDecimal(atomic, decimals);
  const excluded = Object.entries(balance.exclusions).filter(([, atomic]) => atomic !== 0n);
  return {
    blockchain,
    address,
    chain,
    currency,
    proved_through: proved_through === 0 ? null : new Date(proved_through * 1000).toISOString(),
    on_chain: coin(balance.on_chain),
    matched: coin(balance.matched),
    late: coin(balance.late),
    unmatched: coin(balance.unmatched),
    dust: coin(balance.dust),
    exclusions: Object.fromEntries(excluded.map(([name, atomic]) => [name, coin(atomic)])),
    difference: coin(balance.difference),
    faults,
    unread,
    ok,
  };
}

const INDENT = ' '.repeat(16);

const isEmpty = ({ on_chain, matched, late, unmatched, dust, exclusions, ok }: ShownBalance): boolean =>
  ok &&
  [on_chain, matched, late, unmatched, dust].every((amount) => amount === '0') &&
  !Object.keys(exclusions).length;

/** One line for each account that has anything, and more for one that does not agree. */
export function chainLines(balances: readonly ShownBalance[], isQuiet: boolean): string[] {
  return balances
    .filter((balance) => !(isQuiet ? balance.ok : isEmpty(balance)))
    .flatMap((balance) => {
      const { chain, address, currency, faults, unread, ok, difference } = balance;
      const verdict = ok ? 'ok' : unread === null ? 'BROKEN' : 'unchecked';
      return [
        `${verdict.padEnd(9)}  ${CHAIN_LAW}  ${chain} ${address}: ${sumText(balance)} ${currency}`,
        ...(unread === null ? [] : [`${INDENT}not checked: ${unread}`]),
        ...faults.map((fault) => `${INDENT}${faultText(fault)}`),
        ...(faults.length === 0
          ? []
          : [`${INDENT}the chain has ${difference} ${currency} more than the books`, ADVICE]),
      ];
    });
}

const ADVICE = `${INDENT}what to do: check the transactions on the chain; what is missing is read again with \`gatewayd reread\`, what is not there any more is corrected where it was paid out`;

function sumText({ on_chain, matched, late, unmatched, dust, exclusions }: ShownBalance): string {
  const named = Object.entries(exclusions).map(
    ([name, amount]) => ` + ${amount} ${name.replaceAll('_', ' ')}`,
  );
  return `${on_chain} on chain = ${matched} matched + ${late} late + ${unmatched} unmatched${dust === '0' ? '' : ` + ${dust} dust`}${named.join('')}`;
}

const faultText = ({ fault, txid, index, ...rest }: ChainFault): string =>
  `${fault}: txid=${txid} index=${index} ${Object.entries(rest)
    .map(([name, value]) => `${name}=${value ?? '-'}`)
    .join(' ')}`;

export function chainSummary(balances: readonly ShownBalance[]): string {
  const broken = balances.filter(({ ok, unread }) => !ok && unread === null).length;
  const unread = balances.filter((balance) => balance.unread !== null).length;
  return `${balances.length} watched accounts read again: ${broken === 0 ? 'all that were read agree' : `${broken} do not agree`}${unread === 0 ? '' : `, ${unread} could not be read`}`;
}
