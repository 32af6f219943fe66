// A provider without a network: each answer passes through a hand that may spoil it.
import type { Json, Rpc } from '../../../src/chains/family.ts';

/** Makes the true answer to a request: `/transactions?…` or a JSON-RPC method with its parameters. */
export type Answer = (name: string, params: Json) => unknown;

/** Sees each answer before the family does; returns what the family gets, or throws. */
export type Spoil = (name: string, answer: unknown) => unknown;

export interface OddRpc extends Rpc {
  /** What was asked so far. */
  asked: string[];
  spoil: Spoil;
}

export function createOddRpc(provider: string, answer: Answer): OddRpc {
  const asked: string[] = [];
  async function ask(name: string, params: Json): Promise<unknown> {
    asked.push(name);
    const told = structuredClone(await answer(name, params));
    return rpc.spoil(name, told);
  }
  const rpc: OddRpc = {
    provider,
    asked,
    spoil: (_, told) => told,
    json: (path, { query, body } = {}) => ask(path, (body ?? query ?? null) as Json),
    text: async (path) => textOf(await ask(path, null)),
    bytes: async (path) => {
      const told = await ask(path, null);
      return told instanceof Uint8Array ? told : new TextEncoder().encode(textOf(told));
    },
    call: ask,
    batch: async (method, params) => {
      const told = await Promise.all(params.map((each) => answer(method, each)));
      asked.push(method);
      return told.map((each) => rpc.spoil(method, structuredClone(each)));
    },
  };
  return rpc;
}

const textOf = (told: unknown): string => (typeof told === 'string' ? told : (JSON.stringify(told) ?? ''));
