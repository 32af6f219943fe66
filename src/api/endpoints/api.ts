// The list of all endpoints, in the order people read it.

import type { Endpoint } from '../describe/endpoint.ts';
import { admin } from './admin.ts';
import { buyer } from './buyer.ts';
import { checkout } from './checkout.ts';
import { discovery } from './discovery.ts';
import { invoices } from './invoices.ts';
import { login } from './login.ts';
import { merchant } from './merchant.ts';
import { system } from './system.ts';
import { units } from './units.ts';
import { users } from './users.ts';

export const api = [
  ...invoices,
  ...buyer,
  ...units,
  ...merchant,
  ...login,
  ...users,
  ...checkout,
  ...discovery,
  ...admin,
  ...system,
] as const;

export type Api = typeof api;
export type EndpointId = Api[number]['id'];

const byId: ReadonlyMap<string, Endpoint> = new Map(api.map((endpoint) => [endpoint.id, endpoint]));

/** The endpoint with this id, as its own type; undefined for an unknown one. */
export function findEndpoint<Id extends EndpointId>(id: Id): Extract<Api[number], { id: Id }>;
export function findEndpoint(id: string): Endpoint | undefined;
export function findEndpoint(id: string): Endpoint | undefined {
  return byId.get(id);
}
