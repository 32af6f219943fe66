// What a model of a provider is asked and answers, whichever protocol it speaks.

export interface ModelRequest {
  method: 'GET' | 'POST';
  /** Below the provider's URL, with a leading slash. */
  path: string;
  query: URLSearchParams;
  body: string | null;
}

export interface ModelAnswer {
  status: number;
  body: string | Uint8Array;
  headers?: Record<string, string>;
}

/** Answers honestly, as the model stands at this moment. */
export type Front = (request: ModelRequest) => ModelAnswer;

export const json = (value: unknown, status = 200): ModelAnswer => ({ status, body: JSON.stringify(value) });
export const text = (body: string, status = 200): ModelAnswer => ({ status, body });

/** A failure of one JSON-RPC call. */
export class RpcFault extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export type Methods = Record<string, (params: readonly unknown[]) => unknown>;

/** JSON-RPC 2.0 over POST; `batches`: whether the node takes several calls in one request. */
export function jsonRpc(methods: Methods, batches: boolean): Front {
  const one = (call: unknown): unknown => {
    const { id = null, method, params = [] } = call as { id?: unknown; method: string; params?: unknown[] };
    try {
      const answer = methods[method];
      if (!answer) throw new RpcFault(-32601, `Method not found: ${method}`);
      return { jsonrpc: '2.0', id, result: answer(params) ?? null };
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error;
      return { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } };
    }
  };
  return ({ body }) => {
    const asked = JSON.parse(body ?? 'null') as unknown;
    if (!Array.isArray(asked)) return json(one(asked));
    if (batches) return json(asked.map(one));
    return json({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'Batches are not supported' } });
  };
}
