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
    const given = structuredClone(await answer(name, params));
    return rpc.spoil(name, given);
  }
  const rpc: OddRpc = {
    provider,
    asked,
    spoil: (_, given) => given,
    json: (path, { query, body } = {}) => ask(path, (body ?? query ?? null) as Json),
    text: async (path) => textOf(await ask(path, null)),
    bytes: async (path) => {
      const given = await ask(path, null);
      return given instanceof Uint8Array ? given : new TextEncoder().encode(textOf(given));
    },
    call: ask,
    batch: async (calls) => {
      const given = await Promise.all(calls.map(({ method, params }) => answer(method, params)));
      asked.push(...new Set(calls.map(({ method }) => method)));
      return given.map((each, at) => rpc.spoil(calls[at]?.method ?? '', structuredClone(each)));
    },
  };
  return rpc;
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
