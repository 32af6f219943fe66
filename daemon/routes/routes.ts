// Every described endpoint with its handler, in the order of the description.
import { buyer as buyerEndpoints } from '../../src/api/buyer.ts';
import { payQrPng, payQrSvg } from '../../src/api/checkout.ts';
import { getOpenApi } from '../../src/api/discovery.ts';
import { invoices as invoiceEndpoints } from '../../src/api/invoices.ts';
import { login as loginEndpoints } from '../../src/api/login.ts';
import { merchant as merchantEndpoints } from '../../src/api/merchant.ts';
import { getHealth, healthCheck } from '../../src/api/system.ts';
import { units as unitEndpoints } from '../../src/api/units.ts';
import { users as userEndpoints } from '../../src/api/users.ts';
import { type Route, routesOf } from '../http/handler.ts';
import { buyer } from './buyer.ts';
import { checkout } from './checkout.ts';
import { discovery } from './discovery.ts';
import { health } from './health.ts';
import { invoices } from './invoices.ts';
import { login } from './login.ts';
import { merchant } from './merchant.ts';
import { units } from './units.ts';
import { users } from './users.ts';

export const routes: readonly Route[] = [
  ...routesOf(invoiceEndpoints, invoices),
  ...routesOf(buyerEndpoints, buyer),
  ...routesOf([payQrSvg, payQrPng], checkout),
  ...routesOf(unitEndpoints, units),
  ...routesOf(merchantEndpoints, merchant),
  ...routesOf(loginEndpoints, login),
  ...routesOf(userEndpoints, users),
  ...routesOf([getOpenApi], discovery),
  ...routesOf([getHealth, healthCheck], health),
];
