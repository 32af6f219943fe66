// The typed client: one method for each endpoint of the list, named by its id.

import type { Endpoint } from '../describe/endpoint.ts';
import { type Api, api } from '../endpoints/api.ts';
import {
  type AnyInput,
  type CallInput,
  type CallOptions,
  type CallReply,
  type Connection,
  createCall,
} from './call.ts';

export { ApiError, type Connection } from './call.ts';

type MethodOf<E extends Endpoint> =
  Record<never, never> extends CallInput<E>
    ? (input?: CallInput<E>, options?: CallOptions) => Promise<CallReply<E>>
    : (input: CallInput<E>, options?: CallOptions) => Promise<CallReply<E>>;

/** `client.createInvoice({ body })`, `client.getInvoice({ params })`, … for every endpoint. */
export type Client = { readonly [E in Api[number] as E['id']]: MethodOf<E> };

/**
 * A client for one deployment.
 *
 *     const client = createClient({ base_url: 'http://127.0.0.1:4020', api_key: 'gw_…', fetch });
 *     const invoice = await client.createInvoice({ body: { chain: 'ton', amount: '12.50' } });
 *
 * Methods throw ApiError for a refusal (`error.status`, `error.code`, `error.body`).
 */
export function createClient(connection: Connection): Client {
  const call = createCall(connection);
  const methods = api.map((endpoint) => [
    endpoint.id,
    (input?: AnyInput, options?: CallOptions) => call(endpoint, input, options),
  ]);
  return Object.fromEntries(methods) as Client;
}
