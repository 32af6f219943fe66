// The endpoints of one part of the interface, loaded alone: a caller of one endpoint need not build every schema.
import type { Endpoint, Tag } from '../describe/endpoint.ts';

export const endpointsOf: Record<Tag, () => Promise<readonly Endpoint[]>> = {
  invoices: async () => (await import('./invoices.ts')).invoices,
  buyer: async () => (await import('./buyer.ts')).buyer,
  units: async () => (await import('./units.ts')).units,
  merchant: async () => (await import('./merchant.ts')).merchant,
  login: async () => (await import('./login.ts')).login,
  users: async () => (await import('./users.ts')).users,
  checkout: async () => (await import('./checkout.ts')).checkout,
  discovery: async () => (await import('./discovery.ts')).discovery,
  admin: async () => (await import('./admin.ts')).admin,
  system: async () => (await import('./system.ts')).system,
};
