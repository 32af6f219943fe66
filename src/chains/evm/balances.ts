// Balances of many addresses at one block, by a single call where the provider runs code, else one by one.
import { type Json, ProviderError, type RpcCall } from '../family.ts';
import { badAnswer, countOf, type Header, headerOf, wordsOf } from './answers.ts';
import type { Held } from './cursor.ts';
import { type Asker, askEach, blockCall, given, type Host, hex } from './hosts.ts';

/** The most that code may return is 24,576 bytes (EIP-170): 768 balances. */
const BALANCES_PER_CALL = 760;
/** So few are asked for one by one. */
const FEW = 4;

/**
 * Code that is run in place of a contract's creation, and returns the balance of each of the addresses that follow it. In
 * words: for i below the count, copy 20 bytes at the end of the code + 20 i to 0x7000, shift the word there right by 96 bits,
 * store its balance at 32 i; return 32 times the count. `and_height`: and after them the number of the block that it ran on.
 */
export function balancesCode(keys: readonly string[], and_height = false): string {
  const count = keys.length.toString(16).padStart(4, '0');
  const height = and_height ? '438160051b52600101' : '';
  const end = (50 + height.length / 2).toString(16);
  const loop = `60005b8061${count}14602b5760148160140260${end}01617000396170005160601c318160051b526001016002565b`;
  return `0x${loop}${height}60051b6000f3${keys.map((key) => key.slice(2)).join('')}`;
}

/** Balances by key, and the block that had them. */
export type BalancesAt = Map<string, bigint> & { block?: Header; others?: readonly unknown[] };

export interface Balances {
  calls: RpcCall[];
  /** From the answers to these calls. Throws ProviderError. */
  read(answers: readonly unknown[]): BalancesAt;
}

/** A block by its height; where its hash is known too, it must be that one. */
export type BlockAsked = Held | [height: number, hash: null];

/** What asks a host for the balances of these keys at a block. */
export function askingBalances(host: Host, keys: readonly string[], [height, hash]: BlockAsked): Balances {
  const by_code = host.runs_code && keys.length > FEW;
  const groups = by_code ? groupsOf(keys) : keys.map((key) => [key]);
  const at: Json = hex(height);
  const calls = groups.map(
    (group): RpcCall =>
      by_code
        ? { method: 'eth_call', params: [{ data: balancesCode(group) }, at] }
        : { method: 'eth_getBalance', params: [group[0] as string, at] },
  );
  return {
    calls: [...calls, blockCall(height)],
    read(answers) {
      const block = headerOf(given(answers[calls.length]), height);
      if (!block || (hash !== null && block.hash !== hash))
        throw badAnswer(`block ${height} changed while balances were read`);
      const entries = groups.flatMap((group, position): [string, bigint][] => {
        const answer = answers[position];
        if (!by_code) return [[group[0] as string, countOf(given(answer), 'a balance')]];
        const found = answer instanceof ProviderError ? null : wordsOf(answer, group.length);
        if (found) return group.map((key, each) => [key, found[each] as bigint]);
        // It may not run code, or not keep the state: the next question tells which.
        host.runs_code = false;
        throw answer instanceof ProviderError ? answer : badAnswer('balances came in another form');
      });
      return Object.assign(new Map(entries), { block });
    },
  };
}

function groupsOf(keys: readonly string[]): string[][] {
  const groups: string[][] = [];
  for (let at = 0; at < keys.length; at += BALANCES_PER_CALL)
    groups.push(keys.slice(at, at + BALANCES_PER_CALL));
  return groups;
}

/**
 * The balances of these keys at a block, and the answers to `more` of the same request. Throws ProviderError where the host
 * does not have them, or has another block.
 */
export async function balancesAt(
  asker: Asker,
  keys: readonly string[],
  block: BlockAsked,
  more: readonly RpcCall[] = [],
): Promise<BalancesAt> {
  if (keys.length === 0) return new Map();
  const { host } = asker;
  const could = host.runs_code;
  const ask = async () => {
    const question = askingBalances(host, keys, block);
    const answers = await askEach(asker, [...question.calls, ...more]);
    return Object.assign(question.read(answers), { others: answers.slice(question.calls.length) });
  };
  try {
    return await ask();
  } catch (error) {
    if (host.runs_code === could) throw error;
  }
  try {
    return await ask();
  } catch (error) {
    // It was not for the code.
    host.runs_code = could;
    throw error;
  }
}

/** The same; undefined where the host keeps no state of that block, which it must refuse twice. */
export async function balancesIfStored(
  asker: Asker,
  keys: readonly string[],
  block: BlockAsked,
): Promise<BalancesAt | undefined> {
  const ask = async () => {
    try {
      return await balancesAt(asker, keys, block);
    } catch (error) {
      if (error instanceof ProviderError && error.kind === 'rpc') return undefined;
      throw error;
    }
  };
  return (await ask()) ?? (await ask());
}
