// An agent that was given a base URL and nothing else: it reads what it is led to, and sells.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { listen } from '../../helpers/browser.ts';
import { verifies } from '../../requirements.ts';

const MAX_REQUESTS_AFTER_SIGNUP = 6;

interface AgentStep {
  id: string;
  call: { method: string; url: string; headers?: Record<string, string>; body?: Record<string, unknown> };
}
interface Placeholder {
  name: string;
  from?: { operation: string; member: string };
  sample?: string;
}

describe('a cold agent', () => {
  let daemon: TestApp;
  let base: string;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    daemon = await startApp();
    const serving = await listen(daemon);
    base = serving.url;
    stop = () => serving.stop();
  });
  afterAll(async () => {
    await stop();
    await daemon.stop();
  });

  const read = async (url: string) => {
    const response = await fetch(url);
    expect(response.status, url).toBe(200);
    return response;
  };

  /** The link of llms.txt under that name. */
  const linkIn = (text: string, name: string): string => {
    const found = new RegExp(`\\[${name}\\]\\(([^)]+)\\)`).exec(text)?.[1];
    if (!found) throw new Error(`llms.txt has no link ${name}`);
    return found;
  };

  /** Plays the steps; values come from replies by `placeholders`, from samples, or are the agent's own. */
  async function play(steps: AgentStep[], placeholders: Placeholder[], own: Record<string, string>) {
    const values: Record<string, string> = { ...own };
    for (const { name, sample } of placeholders) if (sample && !values[name]) values[name] = sample;
    const fill = (text: string) =>
      text.replace(/\{(\w+)\}/g, (_, name: string) => {
        const value = values[name];
        if (value === undefined) throw new Error(`no value for {${name}}`);
        return value;
      });
    const replies: Record<string, Record<string, unknown>> = {};
    let after_signup = 0;
    for (const { id, call } of steps) {
      const headers: Record<string, string> = JSON.parse(fill(JSON.stringify(call.headers ?? {})));
      const body = call.body && (JSON.parse(fill(JSON.stringify(call.body))) as Record<string, string>);
      // The example of signing up is someone else: an agent puts in its own.
      if (body && id === 'signup') Object.assign(body, own);
      const form = headers['Content-Type'] === 'application/x-www-form-urlencoded';
      const response = await fetch(fill(call.url), {
        method: call.method,
        headers,
        ...(body ? { body: form ? new URLSearchParams(body) : JSON.stringify(body) } : {}),
      });
      const text = await response.text();
      expect(response.status, `${id}: ${text}`).toBe(200);
      const isJson = response.headers.get('content-type') === 'application/json';
      const reply = (isJson ? JSON.parse(text) : {}) as Record<string, unknown>;
      replies[id] = reply;
      if (id !== 'signup') after_signup += 1;
      for (const { name, from } of placeholders)
        if (from?.operation === id && from.member in reply) values[name] = String(reply[from.member]);
    }
    return { replies, after_signup };
  }

  async function flow(id: string) {
    const llms = await (await read(`${base}/llms.txt`)).text();
    const flows = await (await read(linkIn(llms, 'Flows as JSON'))).json();
    const endpoints = await (await read(linkIn(llms, 'Endpoints as JSON'))).json();
    const steps: string[] = flows.entries.find((entry: { id: string }) => entry.id === id).steps;
    const byId = new Map(endpoints.entries.map((entry: AgentStep) => [entry.id, entry]));
    return { steps: steps.map((step) => byId.get(step) as AgentStep), placeholders: flows.placeholders };
  }

  test('has a confirmed testnet invoice in at most 6 requests after it signed up', async () => {
    verifies('service-agents');
    const { steps, placeholders } = await flow('flow.try-on-testnet');
    const own = { email: 'agent@example.com', password: 'a long password of the agent' };
    const { replies, after_signup } = await play(steps, placeholders, own);
    expect(after_signup).toBeLessThanOrEqual(MAX_REQUESTS_AFTER_SIGNUP);
    expect(replies.simulateInvoice).toMatchObject({ status: 'confirmed', id: replies.createInvoice?.id });
  });

  test('sells with an invoice, and with a link, by the other flows', async () => {
    for (const [id, step] of [
      ['flow.sell-with-invoice', 'getInvoice'],
      ['flow.sell-with-link', 'createUnit'],
      ['flow.embed', 'createUnit'],
    ] as const) {
      const { steps, placeholders } = await flow(id);
      const own = { email: `${id}@example.com`, password: 'a long password of the agent' };
      const { replies } = await play(steps, placeholders, own);
      if (step === 'getInvoice') expect(replies[step]).toMatchObject({ status: 'confirmed' });
      else {
        expect(await (await read(String(replies[step]?.page_url))).text()).toContain('Coffee');
        // Made in this order, it can be bought.
        expect(replies[step]?.chains).toContain('ton');
      }
    }
  });

  test('is led on by a refusal: from no wallet to the call that sets one', async () => {
    const { steps, placeholders } = await flow('flow.try-on-testnet');
    const own = { email: 'hasty@example.com', password: 'a long password of the agent' };
    const before = steps.filter(({ id }) =>
      ['signup', 'loginAccessToken', 'getMerchantAccount'].includes(id),
    );
    const { replies } = await play(before, placeholders, own);
    const create = () =>
      fetch(`${base}/v1/invoices`, {
        method: 'POST',
        headers: {
          'x-api-key': String(replies.getMerchantAccount?.api_key),
          'content-type': 'application/json',
        },
        body: JSON.stringify({ chain: 'ton', amount: 1 }),
      });
    const refused = await create();
    const refusal = await refused.json();
    expect([refused.status, refusal.code, refusal.blockchain]).toEqual([400, 'no_wallet', 'ton']);
    expect(refusal.next.operation).toBe('setMerchantWallet');
    const sample = placeholders.find(({ name }: Placeholder) => name === 'ton_address').sample;
    const corrected = await fetch(`${base}${refusal.next.path}`, {
      method: refusal.next.method,
      headers: {
        authorization: `Bearer ${replies.loginAccessToken?.access_token}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ blockchain: refusal.blockchain, address: sample }),
    });
    expect(corrected.status).toBe(200);
    expect((await create()).status).toBe(200);
  });
});
