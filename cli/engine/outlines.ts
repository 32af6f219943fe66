// The endpoints of one part of the interface; in the built program as outlines, which any import of cli gets.
import type { Endpoint, Tag } from '../../src/api/describe/endpoint.ts';

export const outlinesOf: Record<Tag, () => Promise<readonly Endpoint[]>> = {
  invoices: async () => (await import('../../src/api/endpoints/invoices.ts')).invoices,
  buyer: async () => (await import('../../src/api/endpoints/buyer.ts')).buyer,
  units: async () => (await import('../../src/api/endpoints/units.ts')).units,
  merchant: async () => (await import('../../src/api/endpoints/merchant.ts')).merchant,
  login: async () => (await import('../../src/api/endpoints/login.ts')).login,
  users: async () => (await import('../../src/api/endpoints/users.ts')).users,
  checkout: async () => (await import('../../src/api/endpoints/checkout.ts')).checkout,
  discovery: async () => (await import('../../src/api/endpoints/discovery.ts')).discovery,
  admin: async () => (await import('../../src/api/endpoints/admin.ts')).admin,
  system: async () => (await import('../../src/api/endpoints/system.ts')).system,
};
