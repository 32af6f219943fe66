// The OpenAPI document under the rules of others, and a client that is generated from it.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';
import openapiTs, { astToString } from 'openapi-typescript';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { listen } from '../../helpers/browser.ts';
import { PASSWORD, person } from '../../helpers/people.ts';
import { verifies } from '../../requirements.ts';

/** Paths that the specification writes with a slash at their end. */
const trailing = [
  '/api/v1/reset-password/',
  '/api/v1/users/',
  '/api/v1/utils/health-check/',
  '/api/v1/utils/test-email/',
];

const run = promisify(execFile);

/** What someone writes against the generated types; anything that they do not know does not compile. */
const program = `
import createClient from 'openapi-fetch';
import type { paths } from './schema.ts';

const [baseUrl = '', username = '', password = '', address = ''] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl });
const login = await client.POST('/api/v1/login/access-token', {
  body: { username, password },
  bodySerializer: (body) => new URLSearchParams(body as Record<string, string>),
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
});
if (!login.data) throw new Error(login.error.detail as string);
const headers = { authorization: 'Bearer ' + login.data.access_token };
const account = await client.GET('/api/v1/merchant/account', { headers });
await client.PUT('/api/v1/merchant/wallets', { headers, body: { blockchain: 'ton', address } });
const key = { 'x-api-key': account.data?.api_key ?? '' };
const created = await client.POST('/v1/invoices', { headers: key, body: { chain: 'ton', amount: '12.50' } });
if (!created.data) throw new Error(JSON.stringify(created.error));
const params = { path: { invoice_id: created.data.id } };
const settled = await client.POST('/v1/invoices/{invoice_id}/simulate', { headers: key, params });
const status: 'created' | 'confirmed' | 'expired' | 'cancelled' | 'failed' | undefined = settled.data?.status;
const refused = await client.POST('/v1/invoices', { headers: key, body: { chain: 'nothing', amount: 1 } });
const code = refused.error && 'code' in refused.error ? refused.error.code : undefined;
const qr = await client.GET('/v1/pay/{invoice_id}/qr.png', { params, parseAs: 'arrayBuffer' });
const bytes = Buffer.from(qr.data as unknown as ArrayBuffer);
console.log(JSON.stringify({ status, match: created.data.amount_match, code, qr: bytes.toString('latin1', 1, 4) }));
`;

describe('the OpenAPI document', () => {
  let daemon: TestApp;
  let text: string;
  beforeAll(async () => {
    daemon = await startApp({ settings: { public_url: 'https://pay.some-merchant.test' } });
    text = (await daemon.fetch('GET', '/api/v1/openapi.json')).text;
  });
  afterAll(() => daemon.stop());

  test('is OpenAPI 3.1 with operations, security and components as they are specified', () => {
    verifies('get-openapi');
    const document = JSON.parse(text);
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(document.info.version).toBe('0.1.0');
    expect(document.servers).toEqual([{ url: 'https://pay.some-merchant.test' }]);
    expect(document.components.securitySchemes).toMatchObject({
      OAuth2PasswordBearer: {
        type: 'oauth2',
        flows: { password: { tokenUrl: expect.stringMatching(/\/api\/v1\/login\/access-token$/) } },
      },
      APIKeyHeader: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      APIKeyQuery: { type: 'apiKey', in: 'query', name: 'api_key' },
    });
  });

  test('is clean in the recommended rules of Redocly, but for the slashes that are specified', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source: text, absoluteRef: 'openapi.json', config });
    const slashes = problems.filter(({ ruleId }) => ruleId === 'no-path-trailing-slash');
    const others = problems.filter(({ ruleId }) => ruleId !== 'no-path-trailing-slash');
    expect(
      others.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`),
    ).toEqual([]);
    expect(
      slashes
        .map(({ location }) => location[0]?.pointer?.replace('#/paths/', '').replaceAll('~1', '/'))
        .sort(),
    ).toEqual(trailing);
  });

  test('is clean in the recommended rules of Spectral, but for the slashes that are specified', async () => {
    const linter = new spectral.Spectral();
    linter.setRuleset({ extends: [[oas, 'recommended']] } as RulesetDefinition);
    const problems = await linter.run(text);
    const others = problems.filter(({ code }) => code !== 'path-keys-no-trailing-slash');
    expect(others.map(({ code, message, path }) => `${code} ${path.join('/')}: ${message}`)).toEqual([]);
    const slashes = problems.filter(({ code }) => code === 'path-keys-no-trailing-slash');
    expect(slashes.map(({ path }) => path[1]).sort()).toEqual(trailing);
  });

  test('a client generated from it compiles, signs in, sells and is refused', async () => {
    const other = await startApp();
    const serving = await listen(other);
    const { email } = await person(other);
    // Inside the checkout, so that the program finds its modules.
    const directory = mkdtempSync(join(import.meta.dirname, 'generated-'));
    try {
      writeFileSync(
        join(directory, 'schema.ts'),
        astToString(await openapiTs(text, { defaultNonNullable: false })),
      );
      writeFileSync(join(directory, 'client.ts'), program);
      await run(process.execPath, [
        join(import.meta.dirname, '../../../node_modules/typescript/bin/tsc'),
        ...['--strict', '--module', 'nodenext', '--target', 'es2022', '--skipLibCheck', '--noEmit'],
        ...['--lib', 'es2022,dom', '--types', 'node', '--allowImportingTsExtensions'],
        join(directory, 'client.ts'),
      ]).catch(({ stdout }) => {
        throw new Error(stdout);
      });
      const { stdout } = await run(process.execPath, [
        '--import',
        join(import.meta.dirname, '../../helpers/typescript-hooks.mjs'),
        join(directory, 'client.ts'),
        ...[serving.url, email, PASSWORD, `0:${'11'.repeat(32)}`],
      ]);
      expect(JSON.parse(stdout)).toEqual({
        status: 'confirmed',
        match: 'none',
        code: 'unknown_chain',
        qr: 'PNG',
      });
    } finally {
      rmSync(directory, { recursive: true, force: true });
      await serving.stop();
      await other.stop();
    }
  });
});
