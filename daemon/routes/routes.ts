// Every described endpoint with its handler.
import { admin as adminEndpoints } from '../../src/api/endpoints/admin.ts';
import { buyer as buyerEndpoints } from '../../src/api/endpoints/buyer.ts';
import { checkout as checkoutEndpoints } from '../../src/api/endpoints/checkout.ts';
import { discovery as discoveryEndpoints } from '../../src/api/endpoints/discovery.ts';
import { invoices as invoiceEndpoints } from '../../src/api/endpoints/invoices.ts';
import { login as loginEndpoints } from '../../src/api/endpoints/login.ts';
import { merchant as merchantEndpoints } from '../../src/api/endpoints/merchant.ts';
import { system as systemEndpoints } from '../../src/api/endpoints/system.ts';
import { units as unitEndpoints } from '../../src/api/endpoints/units.ts';
import { unlisted as unlistedEndpoints } from '../../src/api/endpoints/unlisted.ts';
import { users as userEndpoints } from '../../src/api/endpoints/users.ts';
import { refusedPage } from '../checkout/refused.tsx';
import { type Route, routesOf } from '../http/handler.ts';
import { admin } from './admin.ts';
import { buyer } from './buyer.ts';
import { checkout } from './checkout.ts';
import { discovery } from './discovery.ts';
import { invoices } from './invoices.ts';
import { login } from './login.ts';
import { merchant } from './merchant.ts';
import { system } from './system.ts';
import { units } from './units.ts';
import { unlisted } from './unlisted.ts';
import { users } from './users.ts';

export const routes: readonly Route[] = [
  ...routesOf(invoiceEndpoints, invoices),
  ...routesOf(buyerEndpoints, buyer),
  ...routesOf(checkoutEndpoints, checkout, refusedPage),
  ...routesOf(unitEndpoints, units),
  ...routesOf(merchantEndpoints, merchant),
  ...routesOf(loginEndpoints, login),
  ...routesOf(userEndpoints, users),
  ...routesOf(discoveryEndpoints, discovery),
  ...routesOf(unlistedEndpoints, unlisted),
  ...routesOf(adminEndpoints, admin),
  ...routesOf(systemEndpoints, system),
];
