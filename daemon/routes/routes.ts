// Every described endpoint with its handler, in the order of the description.
import { invoices as invoiceEndpoints } from '../../src/api/invoices.ts';
import { getHealth, healthCheck } from '../../src/api/system.ts';
import { type Route, routesOf } from '../http/handler.ts';
import { health } from './health.ts';
import { invoices } from './invoices.ts';

export const routes: readonly Route[] = [
  ...routesOf(invoiceEndpoints, invoices),
  ...routesOf([getHealth, healthCheck], health),
];
