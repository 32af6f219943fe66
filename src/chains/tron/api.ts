// TRON's own API, which stands next to a node's JSON-RPC.
import * as z from 'zod';
import { type Json, ProviderError, type Rpc } from '../family.ts';
import { readJson, TooMuchJson } from '../json.ts';
import { isTooOften } from '../refusals.ts';
import { inTurns } from '../steps.ts';

/** As of the newest block, or of the newest one that no branch replaces; the former counts what is in no block yet, too. */
type Side = 'wallet' | 'walletsolidity';

const EXCERPT_CHARS = 200;
/** Amounts beyond what a JSON number holds exactly are read as text; a quote before it would be a text of someone's. */
const LARGE_AMOUNT =
  /(?<!\\)"(amount|balance|call_value|frozen_balance|fee|\w+_amount)"\s*:\s*(\d{16,19})(?=\s*[,}])/g;

const HEX_32 = /^[0-9a-f]{64}$/;
/** The byte that addresses begin with, then the key. */
const ADDRESS = /^41([0-9a-f]{40})$/;

export const hash = z.string().toLowerCase().regex(HEX_32);
export const address = z.string().regex(ADDRESS);
/** A count of the smallest unit. */
export const sun = z
  .union([z.int().nonnegative(), z.string().regex(/^\d{16,19}$/)])
  .transform((value) => BigInt(value));

export const keyOf = (text: string): string => `0x${text.slice(2)}`;
export const addressOf = (key: string): string => `41${key.slice(2)}`;

/** An overloaded node answers 200 with a text, here and in place of JSON-RPC. */
export async function ask(rpc: Rpc, side: Side, method: string, body: Json): Promise<unknown> {
  const text = await rpc.text(`../${side}/${method}`, { body });
  const answer = await parsed(rpc, text);
  if (typeof answer !== 'object' || answer === null) throw badAnswer(`${method}: ${excerpt(text)}`);
  if (!('Error' in answer)) return answer;
  const why = excerpt(String(answer.Error));
  // Of a node that has no time for a question; anything else it writes there is about the question.
  throw new ProviderError(isTooOften(why) ? 'rate_limited' : 'rpc', `${method} is refused: ${why}`);
}

async function parsed(rpc: Rpc, text: string): Promise<unknown> {
  try {
    const prepared = (piece: string) => piece.replace(LARGE_AMOUNT, '"$1":"$2"');
    return await inTurns(rpc, readJson(text, { prepared }));
  } catch (error) {
    if (error instanceof TooMuchJson) throw badAnswer(`an answer ${error.message}`);
    return null;
  }
}

export const badAnswer = (why: string) => new ProviderError('bad_answer', why);
const excerpt = (text: string): string => text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, EXCERPT_CHARS);

/** What an answer holds. Throws ProviderError where it is no such answer. */
export function check<T>(schema: z.ZodType<T, unknown>, answer: unknown, what: string): T {
  const { data, error } = schema.safeParse(answer);
  if (!error) return data;
  const [issue] = error.issues;
  throw badAnswer(`${what}: ${issue?.path.join('.') ?? ''} ${issue?.message ?? 'unreadable'}`);
}
