// Units: a merchant's offers.
import { endpoint } from '../describe/endpoint.ts';
import { bool, int, list, orNull, text, usd } from '../describe/fields.ts';
import { uuid } from '../describe/identifiers.ts';
import { shape } from '../describe/shape.ts';
import {
  AUTOMATICALLY,
  BEYOND,
  CANCEL_URL,
  MAX_DESCRIPTION,
  MAX_TITLE,
  PICTURE,
  pictureUrl,
  returnAutomatically,
  SUCCESS_URL,
  webUrl,
} from '../describe/shop-fields.ts';
import { UnitDeleted, UnitList, UnitPublic } from '../schemas/resources.ts';
import { MAX_CHAIN } from './invoices.ts';

const MAX_LANGUAGE = 8;

export const unitId = { unit_id: uuid().describe('Unit id') };

const title = () => text({ min: 1, max: MAX_TITLE });
const description = () => text({ max: MAX_DESCRIPTION });
const price = () => usd({ gt: 0, wording: 'float' });
const currencies = () => list(text({ min: 1, max: MAX_CHAIN, named: true }), { min: 1 });
const language = () => text({ max: MAX_LANGUAGE });

const CURRENCIES = 'Gateway ids or tickers; a ticker means every gateway with it';
const WAIT = 'How long its invoices wait; clamped to 300 to 86400';
const LANGUAGE = 'Of the checkout pages, e.g. `de`';
const LISTED = `Whether search engines may list its page, and the sitemap does. ${BEYOND}`;

export const listUnits = endpoint({
  id: 'listUnits',
  method: 'GET',
  path: '/api/v1/merchant/units',
  auth: 'jwt',
  tag: 'units',
  summary: 'List your units',
  gw: 'unit list',
  effect: 'read',
  keywords: 'my products, my offers, list units',
  description:
    'All your units, with how many you may have, which currencies they can accept and how long they can wait.',
  response: UnitList,
  example: {},
});

export const createUnit = endpoint({
  id: 'createUnit',
  method: 'POST',
  path: '/api/v1/merchant/units',
  auth: 'jwt',
  tag: 'units',
  summary: 'Create a unit',
  gw: 'unit create',
  effect: 'write',
  keywords: 'add a product, new offer, fixed price, payment link',
  description:
    'An offer with a USD price, payable at its `page_url` or embedded. It can be created before wallets are set; checkout then refuses until they are. At most 3 units (`unit_limit`).',
  body: shape('UnitCreate', {
    title: title(),
    description: orNull(description()),
    amount_usd: price(),
    currencies: currencies().describe(CURRENCIES),
    wait_seconds: orNull(int()).describe(WAIT),
    language: orNull(language()).describe(LANGUAGE),
    image_url: pictureUrl().nullish().describe(PICTURE),
    success_url: webUrl().nullish().describe(SUCCESS_URL),
    cancel_url: webUrl().nullish().describe(CANCEL_URL),
    return_automatically: returnAutomatically().nullish().describe(AUTOMATICALLY),
    listed: bool().nullish().describe(LISTED),
  }),
  response: UnitPublic,
  errors: ['unit_limit', 'unknown_chain', 'amount_too_large', 'url_not_allowed', 'picture_not_allowed'],
  idempotent: true,
  example: { body: { title: 'Coffee', amount_usd: 4.5, currencies: ['TON', 'ton-usdt'], wait_seconds: 900 } },
});

export const updateUnit = endpoint({
  id: 'updateUnit',
  method: 'PATCH',
  path: '/api/v1/merchant/units/{unit_id}',
  auth: 'jwt',
  tag: 'units',
  summary: 'Change a unit',
  gw: 'unit update',
  effect: 'write',
  keywords: 'change price, rename, deactivate, make unavailable for a while, edit a product',
  description:
    'Members that are left out stay as they are; null removes `description`, `language`, `image_url`, `success_url` and `cancel_url`, and leaves the others unchanged. Open invoices keep their price, and the unit keeps its slug.',
  params: unitId,
  body: shape('UnitUpdate', {
    title: title().nullish(),
    description: description().nullish(),
    amount_usd: price().nullish(),
    currencies: currencies().nullish().describe(CURRENCIES),
    wait_seconds: int().nullish().describe(WAIT),
    language: language().nullish().describe(LANGUAGE),
    active: bool().nullish().describe('An inactive unit refuses checkout'),
    image_url: pictureUrl().nullish().describe(PICTURE),
    success_url: webUrl().nullish().describe(SUCCESS_URL),
    cancel_url: webUrl().nullish().describe(CANCEL_URL),
    return_automatically: returnAutomatically().nullish().describe(AUTOMATICALLY),
    listed: bool().nullish().describe(LISTED),
  }),
  response: UnitPublic,
  errors: ['unit_not_found', 'unknown_chain', 'amount_too_large', 'url_not_allowed', 'picture_not_allowed'],
  example: { params: { unit_id: '{unit_id}' }, body: { amount_usd: '5.00' } },
});

export const deleteUnit = endpoint({
  id: 'deleteUnit',
  method: 'DELETE',
  path: '/api/v1/merchant/units/{unit_id}',
  auth: 'jwt',
  tag: 'units',
  summary: 'Delete a unit',
  gw: 'unit delete',
  effect: 'destroy',
  confirm: { question: 'Delete the unit {unit_id}? Its pages stop working.' },
  keywords: 'delete a product, remove an offer',
  description: 'Its pages stop working. Its invoices remain, and open ones can still be paid.',
  params: unitId,
  response: UnitDeleted,
  errors: ['unit_not_found'],
  example: { params: { unit_id: '{unit_id}' } },
});

export const units = [listUnits, createUnit, updateUnit, deleteUnit] as const;
