// The OpenAPI document and the list it is made of: every route is there, everything resolves, nothing is unsaid.
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Endpoint } from '../../../src/api/describe/endpoint.ts';
import { secretNames } from '../../../src/api/describe/fields.ts';
import { isOptional, type JsonSchema, jsonSchema } from '../../../src/api/describe/json-schema.ts';
import { isValidated, refusalsOf } from '../../../src/api/describe/refusals.ts';
import { api, findEndpoint } from '../../../src/api/endpoints/api.ts';
import { openapi } from '../../../src/api/project/openapi.ts';
import { parseInput } from '../../../src/api/read/validation.ts';
import { InvoicePublic } from '../../../src/api/schemas/resources.ts';
import { errorCodes } from '../../../src/errors.ts';
import { verifies } from '../../requirements.ts';

const list: readonly Endpoint[] = api;
const document = openapi({ base_url: 'https://pay.example.com' });
const text = JSON.stringify(document);

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

/** Every route of the interface: method, path, who may call. */
const routes = `
GET /api/v1/login/identity-source none
POST /api/v1/login/access-token none
POST /api/v1/login/google none
POST /api/v1/login/telegram none
POST /api/v1/login/test-token jwt
POST /api/v1/password-recovery/{email} none
POST /api/v1/reset-password/ none
POST /api/v1/password-recovery-html-content/{email} admin
POST /api/v1/users/signup none
GET /api/v1/users/ admin
POST /api/v1/users/ admin
GET /api/v1/users/me jwt
PATCH /api/v1/users/me jwt
DELETE /api/v1/users/me jwt
PATCH /api/v1/users/me/password jwt
GET /api/v1/users/{user_id} jwt
PATCH /api/v1/users/{user_id} admin
DELETE /api/v1/users/{user_id} admin
POST /api/v1/utils/test-email/ admin
GET /api/v1/utils/health-check/ none
GET /health none
GET /api/v1/merchant/account jwt
PATCH /api/v1/merchant/account jwt
GET /api/v1/merchant/balances jwt
GET /api/v1/merchant/refill-wallets jwt
GET /api/v1/merchant/wallets jwt
PUT /api/v1/merchant/wallets jwt
GET /api/v1/merchant/payment-page jwt
POST /api/v1/merchant/refill jwt
GET /api/v1/merchant/income jwt
GET /api/v1/merchant/embed-preview jwt
GET /api/v1/merchant/units jwt
POST /api/v1/merchant/units jwt
PATCH /api/v1/merchant/units/{unit_id} jwt
DELETE /api/v1/merchant/units/{unit_id} jwt
POST /v1/invoices key
GET /v1/invoices/{invoice_id} key
POST /v1/invoices/{invoice_id}/check key
POST /v1/invoices/{invoice_id}/simulate key
GET /v1/gateways none
GET /v1/config/public none
GET /v1/public/invoices/{invoice_id} none
POST /v1/invoices/{invoice_id}/cancel none
GET /v1/invoices/{invoice_id}/payment none
GET /v1/exits/{invoice_id}/web none
GET /v1/exits/{invoice_id}/tg none
GET /v1/units/{unit_id} none
POST /v1/units/{unit_id}/checkout none
GET /v1/pay/{invoice_id}/page none
GET /v1/pay/{invoice_id}/div none
GET /v1/pay/{invoice_id}/qr.svg none
GET /v1/pay/{invoice_id}/qr.png none
GET /pay/{invoice_id} none
GET /v1/units/{unit_id}/page none
GET /v1/units/{unit_id}/div none
GET /u/{merchant_slug}/{unit_slug} none
GET /embed.js none
GET /logo.png none
GET /favicon-32.png none
GET /v1/catalog none
GET /v1/search none
GET /.well-known/agent.json none
GET /llms.txt none
GET /llms-full.txt none
GET /robots.txt none
GET /sitemap.xml none
GET /api/v1/openapi.json none
GET /docs none
GET /redoc none
GET /api/v1/admin/dashboard admin
GET /api/v1/admin/merchants admin
GET /api/v1/admin/merchants/{user_id} admin
POST /api/v1/admin/merchants/{user_id}/credit admin
GET /api/v1/admin/refill-wallets admin
PUT /api/v1/admin/refill-wallets admin
GET /api/v1/admin/observers admin
GET /api/v1/admin/payments admin
GET /api/v1/admin/payments/{invoice_id} admin
POST /api/v1/admin/payments/{invoice_id}/resolve admin
`
  .trim()
  .split('\n');

const line = ({ method, path, auth }: Endpoint) => `${method} ${path} ${auth}`;

describe('the list', () => {
  test('has every route of the interface, and marks what goes beyond', () => {
    verifies('extension-marked', 'version-prefixes');
    const marked = list.filter((entry) => entry.extension).map(line);
    const missing = routes.filter((route) => !list.some((entry) => line(entry) === route));
    expect(missing, 'routes of the interface that no endpoint describes').toEqual([]);
    const beyond = list.map(line).filter((route) => !routes.includes(route));
    expect(marked, 'endpoints beyond the interface, and no others, say `extension: true`').toEqual(beyond);
  });

  test('names each endpoint once and finds it by its name', () => {
    expect(new Set(list.map(({ id }) => id)).size).toBe(list.length);
    for (const entry of list) expect(findEndpoint(entry.id)).toBe(entry);
    expect(findEndpoint('nothing')).toBe(undefined);
  });

  test('says of every endpoint what it does, and gives an example', () => {
    for (const entry of list) {
      expect(entry.summary, entry.id).toMatch(/^[A-Z][^.]*[^.]$/);
      expect(entry.description.length, entry.id).toBeGreaterThan(10);
      expect(entry.example, entry.id).toBeDefined();
      if (entry.method === 'GET') expect(entry.body, entry.id).toBe(undefined);
    }
  });

  test('gives only examples that are valid once their braces are filled in', () => {
    const world: Record<string, string> = {
      telegram_id: '42',
      telegram_auth_date: '1700000000',
      telegram_hash: 'a'.repeat(64),
      google_id_token: 'a.b.c'.repeat(10),
      email: 'ada@example.com',
      webhook_url: 'https://shop.example.com/hooks/gatewayd',
      ton_address: `0Q${'A'.repeat(46)}`,
    };
    const fill = (value: unknown): unknown =>
      JSON.parse(
        JSON.stringify(value ?? {}).replace(/\{(\w+)\}/g, (_, name: string) =>
          name.endsWith('_id') && !world[name]
            ? '6f1c0a52-0e3b-41f0-9cd2-0242ac120002'
            : (world[name] ?? 'value-of-the-world'),
        ),
      );
    for (const entry of list) {
      const { params, query, body } = entry.example ?? {};
      const result = parseInput(entry, {
        params: fill(params) as Record<string, unknown>,
        query: fill(query) as Record<string, unknown>,
        body: fill(body),
      });
      expect(result, entry.id).toMatchObject({ ok: true });
    }
  });

  test('marks as secret exactly the inputs whose names are never echoed', () => {
    const inputs = list.flatMap((entry) => {
      const { properties = {} } = entry.body ? jsonSchema(entry.body) : {};
      return Object.entries(properties as Record<string, JsonSchema>);
    });
    expect(inputs.length).toBeGreaterThan(0);
    for (const [name, schema] of inputs)
      expect(JSON.stringify(schema).includes('"format":"password"'), name).toBe(secretNames.has(name));
  });

  test('lets any origin read what is public and embedded, and nothing that needs a credential', () => {
    for (const entry of list) if (entry.cors) expect(entry.auth, entry.id).toBe('none');
    for (const id of ['payDiv', 'unitDiv', 'embedScript', 'checkoutUnit', 'getPublicInvoice', 'listGateways'])
      expect(findEndpoint(id)?.cors, id).toBe(true);
  });

  test('lets every creation be repeated safely', () => {
    verifies('idempotency-where');
    expect(
      list
        .filter((entry) => entry.idempotent)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(['checkoutUnit', 'createInvoice', 'createRefill', 'createUnit', 'creditMerchant']);
  });
});

describe('the document', () => {
  test('is OpenAPI 3.1 with the version, the servers and the tags it uses', () => {
    verifies('version-api');
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { title: 'gatewayd', version: '0.1.0' },
      servers: [{ url: 'https://pay.example.com' }],
    });
    const named = document.tags.map(({ name }) => name);
    for (const { operation } of operations) expect(named).toContain(operation.tags[0]);
    expect(JSON.parse(text)).toEqual(document);
  });

  test('has one operation for each endpoint, with unique ids', () => {
    expect(operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort()).toEqual(
      list.map(({ method, path }) => `${method} ${path}`).sort(),
    );
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(list.length);
    for (const { operation } of operations)
      expect(operation['x-extension'], operation.operationId).toBe(
        findEndpoint(operation.operationId)?.extension,
      );
  });

  test('resolves every reference and uses every named shape', () => {
    const references = new Set(
      [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name),
    );
    expect([...references].sort()).toEqual(Object.keys(document.components.schemas).sort());
    expect(text).not.toContain('$defs');
    expect(text).not.toContain('__shared');
  });

  test('describes every parameter of a path, and no other', () => {
    for (const { path, operation } of operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const listed = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
      expect(listed.map(({ name }) => name)).toEqual(inPath);
      for (const parameter of operation.parameters ?? [])
        expect(Object.keys(parameter.schema)).not.toEqual([]);
    }
  });

  test('has the three schemes of sign-in and applies them', () => {
    verifies('auth-oauth2');
    expect(document.components.securitySchemes).toMatchObject({
      OAuth2PasswordBearer: {
        type: 'oauth2',
        flows: { password: { tokenUrl: '/api/v1/login/access-token' } },
      },
      APIKeyHeader: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      APIKeyQuery: { type: 'apiKey', in: 'query', name: 'api_key' },
    });
    for (const { operation } of operations) {
      const entry = findEndpoint(operation.operationId);
      const schemes = operation.security.flatMap((scheme) => Object.keys(scheme));
      const keys = ['APIKeyHeader', 'APIKeyQuery'];
      const expected = { none: [], key: keys, any: ['OAuth2PasswordBearer', ...keys] }[entry?.auth as string];
      expect(schemes, operation.operationId).toEqual(expected ?? ['OAuth2PasswordBearer']);
    }
  });

  test('lists every status with its codes, and 422 wherever input is validated', () => {
    verifies('error-422-shape', 'error-success-200');
    for (const entry of list) {
      const { responses } = document.paths[entry.path]?.[entry.method.toLowerCase()] ?? { responses: {} };
      const statuses = new Set(refusalsOf(entry).map((code) => String(errorCodes[code].status)));
      for (const status of [entry.status ?? 200, 413, 'default']) statuses.add(String(status));
      if (entry.etag) statuses.add('304');
      if (isValidated(entry)) statuses.add('422');
      expect(Object.keys(responses).sort(), entry.id).toEqual([...statuses].sort());
      for (const code of refusalsOf(entry))
        expect(JSON.stringify(responses), entry.id).toContain(`"${code}"`);
    }
    expect(document.paths['/api/v1/utils/test-email/']?.post?.responses).toHaveProperty('201');
    expect(document.paths['/v1/invoices/{invoice_id}/check']?.post?.responses).toHaveProperty('402');
  });

  test('keeps defaults, and calls optional what the specification calls optional', () => {
    verifies(
      'res-invoice',
      'res-gateway',
      'res-account',
      'res-user',
      'limit-users-page',
      'limit-admin-payments-page',
    );
    const { InvoicePublic: invoice, InvoiceCreate: create, UserPublic: user } = document.components.schemas;
    expect(invoice).toMatchObject({
      properties: { amount_match: { default: 'none' }, paid_at: { default: null } },
    });
    const optional = Object.entries((invoice?.properties ?? {}) as Record<string, { description?: string }>)
      // What is beyond the specification says so.
      .filter(([, { description = '' }]) => !description.includes('Beyond the specification'))
      .map(([name]) => name)
      .filter((name) => !(invoice?.required as string[] | undefined)?.includes(name));
    expect(optional.sort()).toEqual([
      'amount_match',
      'ask_donation',
      'paid_at',
      'payment_id',
      'received_amount',
    ]);
    expect(create).toMatchObject({
      required: ['chain', 'amount'],
      properties: { amount_unit: { default: 'usd' } },
    });
    expect(user?.required).toEqual(['id', 'email', 'source']);
    const limit = document.paths['/api/v1/merchant/income']?.get?.parameters?.find(
      ({ name }) => name === 'limit',
    );
    expect(limit).toMatchObject({
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 200, default: 20 },
    });
  });

  test('describes bodies that its own schemas accept', () => {
    for (const entry of list) {
      const body = entry.example?.body;
      if (!entry.body || /"\{\w+\}"/.test(JSON.stringify(body))) continue;
      const schema = z.fromJSONSchema(jsonSchema(entry.body) as Parameters<typeof z.fromJSONSchema>[0]);
      expect(schema.safeParse(body), entry.id).toMatchObject({ success: true });
    }
  });
});

test('a field is optional when it takes nothing', () => {
  expect(isOptional(InvoicePublic)).toBe(false);
  expect(isOptional(InvoicePublic.optional())).toBe(true);
});
