// Which contracts of a network are read, and what one of their logs pays.
import type { Gateway, UnreadableAsset } from '../family.ts';
import { type Log, wordOf } from './answers.ts';
import type { LookAlike } from './contracts.ts';
import { type Asker, askEach } from './hosts.ts';
import type { EvmContext } from './memory.ts';
import type { CoinLog, Coins, EvmNetwork } from './networks.ts';

/** `Transfer(address,address,uint256)` */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** `LogTransfer(address,address,address,uint256,uint256,uint256,uint256,uint256)` */
const LOG_TRANSFER = '0xe6497e3ee548a3372136af2fcb0696db31fc6cf20260707645068bd3fe97f3c4';
/** `decimals()` */
export const DECIMALS = '0x313ce567';
const MOST_DECIMALS = 255n;
/** A contract that has others is asked again after so long, and they count from then on. */
const RETRY_SECONDS = 60;
/** One that did not answer is asked again this soon, and after twice as long each time. */
const SOON_SECONDS = 2;
/** How a coin is named where tokens have their contract. */
const COIN = 'coin';

/** What is read in logs. */
export interface LogAsset {
  /** Gateway id. */
  chain: string;
  /** The key of the contract. */
  contract: string;
  layout: CoinLog['layout'];
  /** What tells its payments apart from those of other assets, for ever. */
  name: string;
  /** Why its payments must not be matched: it is another token than the one that people take it for. */
  look_alike?: string;
}

export interface Assets {
  logs: readonly LogAsset[];
  /** The gateway id of the coin where it is not found in logs, and how it is; null where it is, or is not read. */
  coin: { chain: string; by: Exclude<Coins, { found_by: 'none' | 'log' }> } | null;
}

/** A payment that one log shows. */
export interface LogPayment {
  asset: LogAsset;
  from: string;
  to: string;
  amount: bigint;
}

/** `refused`: by gateway id, why what is paid there must not be matched. */
export function assetsOf(
  { coins, dialect, look_alikes: own_look_alikes = [] }: EvmNetwork,
  { gateways, network }: Pick<EvmContext, 'gateways' | 'network'>,
  refused: ReadonlyMap<string, string> = new Map(),
): Assets {
  const tokens = gateways.flatMap(({ chain, token_contract }): LogAsset[] => {
    if (token_contract === null) return [];
    const contract = dialect.contractKey(token_contract);
    const look_alike = refused.get(chain);
    const other = look_alike === undefined ? {} : { look_alike };
    return [{ chain, contract, layout: 'transfer', name: contract, ...other }];
  });
  const logs = [...tokens, ...(network === 'mainnet' ? lookAlikesOf(own_look_alikes, tokens) : [])];
  const own = coins[network];
  const chain = gateways.find(({ is_token }) => !is_token)?.chain;
  if (chain === undefined || own.found_by === 'none') return { logs, coin: null };
  if (own.found_by !== 'log') return { logs, coin: { chain, by: own } };
  return { logs: [...logs, { chain, ...own.log, name: COIN }], coin: null };
}

/** Those that could be taken for one of the tokens that are read; one that a gateway takes itself is none. */
const lookAlikesOf = (all: readonly LookAlike[], tokens: readonly LogAsset[]): LogAsset[] =>
  all.flatMap(({ contract: shown, name, chain }) => {
    const contract = shown.toLowerCase();
    const is_taken = tokens.some((each) => each.contract === contract);
    if (is_taken || !tokens.some((each) => each.chain === chain)) return [];
    const look_alike = `paid in ${name} (${shown}), which is another token than the one that is asked for`;
    return [{ chain, contract, layout: 'transfer', name: contract, look_alike }];
  });

/** What tells the payments of one transaction apart: the asset, who is paid, and which of them it is. */
export const indexOf = (name: string, to: string, position: number): string => `${name}:${to}:${position}`;
export const coinIndex = (to: string): string => indexOf(COIN, to, 0);
/** Of an increase that no transaction explains: there is one in a block at most. */
const BALANCE = 'balance';
/** `passed`: it had left again when the balance was read. */
export const balanceIndex = (to: string, passed?: 'passed'): string =>
  `${COIN}:${to}:${passed ? `${passed}:` : ''}${BALANCE}`;
export const isOfBalance = (index: string): boolean => index.endsWith(`:${BALANCE}`);
export const isOfCoin = (index: string): boolean => index.startsWith(`${COIN}:`);

const padded = (key: string): string => `0x${'0'.repeat(24)}${key.slice(2)}`;
/** Null where the word is no address. */
const addressIn = (topic: string | undefined): string | null =>
  topic !== undefined && /^0x0{24}/.test(topic) ? `0x${topic.slice(26)}` : null;

/** Filters for payments to these keys, without the blocks; each topic has no more values than a node takes. */
export function filtersFor(
  assets: readonly LogAsset[],
  keys: readonly string[],
  topic_values: number,
): { [name: string]: (string | null | string[])[] }[] {
  const tokens = assets.filter(({ layout }) => layout === 'transfer').map(({ contract }) => contract);
  const coins = assets.filter(({ layout }) => layout === 'polygon').map(({ contract }) => contract);
  const filters = [];
  for (let at = 0; at < keys.length; at += topic_values) {
    const to = keys.slice(at, at + topic_values).map(padded);
    if (tokens.length > 0) filters.push({ address: tokens, topics: [TRANSFER, null, to] });
    for (const contract of coins)
      filters.push({ address: [contract], topics: [LOG_TRANSFER, padded(contract), null, to] });
  }
  return filters as { [name: string]: (string | null | string[])[] }[];
}

/** What a log pays; null where it is no payment in one of these assets. */
export function paymentIn(assets: readonly LogAsset[], log: Log): LogPayment | null {
  const asset = assets.find(({ contract }) => contract === log.address);
  if (!asset) return null;
  const found = asset.layout === 'transfer' ? tokenTransfer(log) : coinTransfer(asset, log);
  if (!found || found.amount === 0n || found.from === found.to) return null;
  return { asset, ...found };
}

type Moved = Omit<LogPayment, 'asset'>;

function tokenTransfer({ topics, data }: Log): Moved | null {
  const [from, to] = [addressIn(topics[1]), addressIn(topics[2])];
  if (topics.length !== 3 || topics[0] !== TRANSFER || from === null || to === null) return null;
  return data.length === 2 + 64 ? { from, to, amount: BigInt(data) } : null;
}

/** Five words: the amount, then balances before and after. */
function coinTransfer({ contract }: LogAsset, { topics, data }: Log): Moved | null {
  const [from, to] = [addressIn(topics[2]), addressIn(topics[3])];
  if (topics.length !== 4 || topics[0] !== LOG_TRANSFER || topics[1] !== padded(contract)) return null;
  if (from === null || to === null || data.length !== 2 + 5 * 64) return null;
  return { from, to, amount: BigInt(data.slice(0, 2 + 64)) };
}

/**
 * The tokens whose contract does not have the decimals that amounts are counted with, or did not answer. All are read; what
 * is paid in the former is listed for the operator and matched with nothing. Asked once of each contract, and again while the
 * answer is not the one that is wanted: a single provider may be wrong once.
 */
export async function checkDecimals(
  { dialect, name }: EvmNetwork,
  { gateways, memory, now }: EvmContext,
  asker: Asker,
): Promise<{ unreadable: UnreadableAsset[]; refused: Map<string, string> }> {
  const tokens = gateways.filter(({ token_contract }) => token_contract !== null);
  const contractOf = ({ token_contract }: Gateway) => dialect.contractKey(token_contract as string);
  const isWrong = (gateway: Gateway) => memory.decimals.get(contractOf(gateway))?.value !== gateway.decimals;
  const unknown = [...new Set(tokens.filter(isWrong).map(contractOf))];
  const isDue = now() - memory.decimals_at >= memory.decimals_pause || now() < memory.decimals_at;
  if (unknown.length > 0 && isDue) {
    memory.decimals_at = now();
    memory.decimals_pause = Math.min(RETRY_SECONDS, Math.max(SOON_SECONDS, 2 * memory.decimals_pause));
    const calls = unknown.map((to) => ({ method: 'eth_call', params: [{ to, data: DECIMALS }, 'latest'] }));
    const answers = await askEach(asker, calls);
    for (const [at, contract] of unknown.entries()) {
      const found = wordOf(answers[at]);
      if (found === null || found > MOST_DECIMALS) continue;
      const known = memory.decimals.get(contract);
      const value = Number(found);
      if (known?.value !== value) memory.decimals.set(contract, { value, since: now() });
    }
    if (unknown.every((contract) => memory.decimals.has(contract))) memory.decimals_pause = RETRY_SECONDS;
  } else if (unknown.length === 0) memory.decimals_pause = 0;
  const refused = new Map<string, string>();
  const unreadable = tokens.flatMap((gateway): UnreadableAsset[] => {
    const found = memory.decimals.get(contractOf(gateway));
    if (found?.value === gateway.decimals) return [];
    const { chain, token_contract } = gateway;
    if (found === undefined || now() - found.since < RETRY_SECONDS)
      return [{ chain, reason: `${name} does not tell the decimals of contract ${token_contract}` }];
    const reason = `contract ${token_contract} on ${name} has ${found.value} decimals, not ${gateway.decimals}: the setting names another token`;
    refused.set(chain, reason);
    return [{ chain, reason }];
  });
  return { unreadable, refused };
}
