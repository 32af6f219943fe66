// MCP over HTTP and over stdio, with clients of the present and the previous generation of the SDK.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHttp } from '../../../daemon/http/mount.ts';
import { type Serving, serve } from '../../../daemon/process/serve.ts';
import { routes } from '../../../daemon/routes/routes.ts';
import { api } from '../../../src/api/endpoints/api.ts';
import { GW } from '../../cli/helpers/gw.ts';
import { startApp, type TestApp, type TestMerchant } from '../../helpers/app.ts';
import { verifies } from '../../requirements.ts';

const all = api.map(({ id }) => id);
const shown = api.filter((endpoint) => !('hidden' in endpoint)).map(({ id }) => id);

interface Result {
  isError?: boolean;
  structuredContent?: Record<string, unknown>;
  content: { type: string; text?: string; data?: string; mimeType?: string }[];
}

describe('MCP', () => {
  let daemon: TestApp;
  let serving: Serving;
  let merchant: TestMerchant;
  let other: TestMerchant;
  beforeAll(async () => {
    serving = await serve({ host: '127.0.0.1', port: 0 });
    daemon = await startApp({ settings: { public_url: serving.url } });
    serving.open(createHttp(daemon.app, routes));
    merchant = await daemon.merchant();
    other = await daemon.merchant();
  });
  afterAll(async () => {
    await serving.stop();
    await daemon.stop();
  });

  const credentials = (who: TestMerchant) => ({ 'x-api-key': who.key, authorization: `Bearer ${who.token}` });

  const endpointOf = (query = '') => new URL(`${serving.url}/mcp${query}`);

  /** A client of each kind, with the credentials of the merchant. */
  const connections = {
    'HTTP, negotiated': async (query = '') => {
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
      await client.connect(
        new StreamableHTTPClientTransport(endpointOf(query), {
          requestInit: { headers: credentials(merchant) },
        }),
      );
      return client;
    },
    'HTTP, 2025 handshake': async (query = '') => {
      const client = new OldClient({ name: 'test', version: '1' });
      await client.connect(
        new OldTransport(endpointOf(query), { requestInit: { headers: credentials(merchant) } }),
      );
      return client;
    },
    stdio: async (query = '') => {
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
      await client.connect(
        new StdioClientTransport({
          command: process.execPath,
          args: [GW, 'mcp', ...(query ? ['--include-hidden'] : [])],
          env: {
            PATH: process.env.PATH ?? '',
            HOME: daemon.app.config.data_dir,
            GW_CONFIG_DIR: daemon.app.config.data_dir,
            GW_URL: serving.url,
            GW_API_KEY: merchant.key,
            GW_TOKEN: merchant.token,
          },
        }),
      );
      return client;
    },
  };

  describe.each(Object.entries(connections))('%s', (_, connect) => {
    let client: Client | OldClient;
    beforeAll(async () => {
      client = await connect();
    });
    afterAll(() => client.close());

    const call = async (name: string, args: Record<string, unknown> = {}) =>
      (await client.callTool({ name, arguments: args })) as unknown as Result;

    test('says where its credentials come from', () => {
      const instructions = client.getInstructions() ?? '';
      for (const way of ['X-API-Key', 'Authorization: Bearer', 'gw login'])
        expect(instructions).toContain(way);
    });

    test('lists a tool for every endpoint, with schemas and annotations', async () => {
      verifies('gw-mcp');
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(shown);
      for (const tool of tools) {
        expect(tool.inputSchema.type, tool.name).toBe('object');
        expect(tool.description, tool.name).toMatch(/Needs /);
        const { readOnlyHint, destructiveHint, idempotentHint } = tool.annotations ?? {};
        for (const hint of [readOnlyHint, destructiveHint, idempotentHint])
          expect(hint).toBeTypeOf('boolean');
        expect(readOnlyHint && destructiveHint, tool.name).toBe(false);
      }
      const find = (name: string) => tools.find((tool) => tool.name === name);
      expect(find('getInvoice')?.annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
      expect(find('createInvoice')?.annotations).toMatchObject({
        readOnlyHint: false,
        destructiveHint: false,
      });
      expect(find('deleteUnit')?.annotations).toMatchObject({ destructiveHint: true, idempotentHint: true });
      expect(find('rotateApiKey')?.annotations).toMatchObject({
        destructiveHint: true,
        idempotentHint: false,
      });
    });

    test('lists the operator’s tools only when asked to', async () => {
      const operator = await connect('?include_hidden=true');
      const { tools } = await operator.listTools();
      expect(tools.map(({ name }) => name)).toEqual(all);
      await operator.close();
    });

    test('says what is wrong with arguments that are none, in words of its own', async () => {
      verifies('gw-mcp');
      const odd: unknown[] = [
        { toString: 1 },
        { toString: null, valueOf: null },
        JSON.parse('{"__proto__":1}'),
        { constructor: 1 },
        { hasOwnProperty: 1 },
        [],
        '\ud800',
      ];
      for (const value of odd) {
        const got = await call('getInvoice', { invoice_id: value });
        expect([got.isError, got.content[0]?.text]).toEqual([
          true,
          'invoice_id should be a text, a number, true or false',
        ]);
        const listed = await call('listInvoices', { limit: value });
        expect(listed.content[0]?.text).toBe('limit should be a text, a number, true or false');
        const made = await call('createInvoice', { chain: 'ton', amount: value });
        expect([made.isError, made.content[0]?.text]).toEqual([true, expect.stringContaining('"detail":[{')]);
      }
      const named = {
        chain: 'ton',
        amount: '1',
        ...JSON.parse('{"__proto__":1,"toString":1,"constructor":1}'),
      };
      expect((await call('createInvoice', named)).structuredContent).toMatchObject({ status: 'created' });
      const keyed = await call('createInvoice', { chain: 'ton', amount: '1', idempotency_key: 'ключ' });
      expect(keyed.content[0]?.text).toBe('idempotency_key should be letters, digits and signs of ASCII');
    });

    test('calls tools as the caller: creates an invoice, settles it, reads it', async () => {
      const created = await call('createInvoice', { chain: 'ton', amount: '7.50', external_ref: 'by mcp' });
      expect(created.structuredContent).toMatchObject({ status: 'created', amount_usd: '7.5' });
      expect(JSON.parse(created.content[0]?.text ?? '')).toEqual(created.structuredContent);
      const invoice_id = created.structuredContent?.id;
      const settled = await call('simulateInvoice', { invoice_id });
      expect(settled.structuredContent).toMatchObject({ id: invoice_id, status: 'confirmed' });
      const reply = await daemon.fetch('GET', `/v1/invoices/${invoice_id}`, { key: merchant.key });
      expect((await call('getInvoice', { invoice_id })).structuredContent).toEqual(reply.json);
      const foreign = await daemon.fetch('GET', `/v1/invoices/${invoice_id}`, { key: other.key });
      expect(foreign.status).toBe(404);
    });

    test('answers what is no object, no JSON, or an image', async () => {
      const { structuredContent } = await call('getBalances');
      expect(structuredContent?.result).toEqual(
        expect.arrayContaining([expect.objectContaining({ currency: 'USD' })]),
      );
      expect((await call('healthCheck')).structuredContent).toEqual({ result: true });
      expect((await call('getLlmsTxt')).content[0]?.text).toMatch(/^# gatewayd/);
      const invoice = await call('createInvoice', { chain: 'ton', amount: 3 });
      const qr = await call('payQrPng', { invoice_id: invoice.structuredContent?.id });
      expect(qr.content[0]).toMatchObject({ type: 'image', mimeType: 'image/png' });
      expect(
        Buffer.from(qr.content[0]?.data ?? '', 'base64')
          .subarray(1, 4)
          .toString(),
      ).toBe('PNG');
    });

    test('the same idempotency key gives the same invoice', async () => {
      const args = { chain: 'ton', amount: 4, idempotency_key: `key-${Math.random()}` };
      const [first, second] = [await call('createInvoice', args), await call('createInvoice', args)];
      expect(second.structuredContent?.id).toBe(first.structuredContent?.id);
    });

    test('a refusal is an error with its code and the next call', async () => {
      const refused = await call('createInvoice', { chain: 'dogecoin', amount: 5 });
      expect(refused.isError).toBe(true);
      expect(JSON.parse(refused.content[0]?.text ?? '')).toMatchObject({
        code: 'unknown_chain',
        next: { operation: 'listGateways', method: 'GET', path: '/v1/gateways' },
      });
      const invalid = await call('createInvoice', { chain: 'ton' });
      expect(JSON.parse(invalid.content[0]?.text ?? '').detail[0]).toMatchObject({ loc: ['body', 'amount'] });
      expect((await call('getInvoice', {})).isError).toBe(true);
      const denied = await call('getAdminDashboard');
      expect(JSON.parse(denied.content[0]?.text ?? '')).toMatchObject({ code: 'not_superuser' });
    });

    test('an unknown tool is an error of the protocol', async () => {
      await expect(client.callTool({ name: 'nothing', arguments: {} })).rejects.toThrow(/Unknown tool/);
    });
  });

  test('both revisions of the protocol were spoken', async () => {
    const modern = await connections['HTTP, negotiated']();
    const old = await connections['HTTP, 2025 handshake']();
    expect((modern as Client).getNegotiatedProtocolVersion()).toBe('2026-07-28');
    expect(old.getServerVersion()).toMatchObject({ name: 'gatewayd' });
    await Promise.all([modern.close(), old.close()]);
  });

  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
  };
  const post = (headers: Record<string, string>, body: unknown = initialize) =>
    daemon.fetch('POST', '/mcp', {
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  test('a page of another origin is refused, and so is another host', async () => {
    const origin = await post({ origin: 'https://evil.test' });
    expect([origin.status, origin.json.error.message]).toEqual([403, expect.stringContaining('Origin')]);
    expect((await post({ origin: 'null' })).status).toBe(403);
    expect((await post({ host: 'evil.test' })).status).toBe(403);
    expect((await post({ origin: serving.url })).status).toBe(200);
    expect((await post({ host: 'localhost:4020' })).status).toBe(200);
  });

  test('without a credential tools that need one are refused', async () => {
    const call = {
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'getBalances', arguments: {} },
    };
    const refused = await post({ 'mcp-protocol-version': '2025-11-25' }, call);
    expect(refused.text).toContain('not_authenticated');
    const wrong = await post({ authorization: 'Bearer nonsense' }, call);
    expect(wrong.text).toContain('invalid_credentials');
  });

  test('a key may come as the bearer token', async () => {
    const call = {
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'listInvoices', arguments: {} },
    };
    const { text } = await post({ authorization: `Bearer ${merchant.key}` }, call);
    expect(text).toContain('has_more');
  });

  test('what is no message, too large, or no POST is refused', async () => {
    expect((await post({}, '{')).status).toBe(400);
    expect((await post({}, `{"x":"${'y'.repeat(300_000)}"}`)).status).toBe(413);
    expect((await daemon.fetch('GET', '/mcp')).status).toBe(405);
  });
});
