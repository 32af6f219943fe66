// What people paste into requests and command lines names the same with characters that no one sees.
import { describe, expect, test } from 'vitest';
import type { Command } from '../../cli/engine/command.ts';
import { factsOf } from '../../cli/engine/facts.ts';
import { wireValue } from '../../cli/engine/flags.ts';
import { wholeId } from '../../cli/engine/references.ts';
import type { Endpoint } from '../../src/api/describe/endpoint.ts';
import {
  listAdminMerchants,
  lookUpTransaction,
  resolvePayment,
  setAdminRefillWallet,
} from '../../src/api/endpoints/admin.ts';
import { checkoutUnit, claimPayment, getPublicInvoice } from '../../src/api/endpoints/buyer.ts';
import { searchCatalog } from '../../src/api/endpoints/discovery.ts';
import { createInvoice, explain, listInvoices } from '../../src/api/endpoints/invoices.ts';
import { setMerchantWallet, updateMerchantAccount } from '../../src/api/endpoints/merchant.ts';
import { createUnit } from '../../src/api/endpoints/units.ts';
import { parseInput } from '../../src/api/read/validation.ts';
import { verifies } from '../requirements.ts';

const UNSEEN = ['\uFEFF', '\u200B', '\u200D', '\u00AD', '\u202E', '\u{E0041}', '\r\n', '\u0007'];
const within = (text: string, unseen: string) =>
  `${unseen} ${text.slice(0, 3)}${unseen}${text.slice(3)}${unseen}\n`;

const ID = '0b7c8f4e-1111-4222-8333-444455556666';
const HASH = 'ab'.repeat(32);
const invoice = { params: { invoice_id: ID } };

type Place = 'params' | 'query' | 'body';
type Sent = Partial<Record<Place, Record<string, unknown>>>;
const pasted: [Endpoint, Place, string, string, Sent][] = [
  [createInvoice, 'body', 'external_ref', 'order-1001', { body: { chain: 'ton', amount: '12.50' } }],
  [createInvoice, 'body', 'chain', 'ton-usdt', { body: { amount: '12.50' } }],
  [
    createInvoice,
    'body',
    'callback_url',
    'https://shop.example/paid',
    { body: { chain: 'ton', amount: '1' } },
  ],
  [checkoutUnit, 'body', 'external_ref', 'order-1001', { params: { unit_id: ID }, body: { chain: 'ton' } }],
  [listInvoices, 'query', 'external_ref', 'order-1001', {}],
  [explain, 'query', 'q', 'ABC23DEF45', {}],
  [searchCatalog, 'query', 'q', 'create an invoice', {}],
  [listAdminMerchants, 'query', 'q', 'ada@example.com', {}],
  [claimPayment, 'body', 'txid', HASH, invoice],
  [resolvePayment, 'body', 'txid', HASH, { ...invoice, body: { action: 'confirm' } }],
  [lookUpTransaction, 'params', 'txid', HASH, invoice],
  [setMerchantWallet, 'body', 'address', `0x${'12'.repeat(20)}`, { body: { blockchain: 'base' } }],
  [setAdminRefillWallet, 'body', 'address', `0x${'12'.repeat(20)}`, { body: { chain: 'base' } }],
  [updateMerchantAccount, 'body', 'webhook_url', 'https://shop.example/hook', {}],
  [getPublicInvoice, 'params', 'invoice_id', ID, {}],
];

describe('what is pasted into a request', () => {
  test.each(pasted)('%#: $path, $id', (endpoint, place, field, value, sent) => {
    verifies('clean-pasted');
    for (const unseen of ['', ...UNSEEN]) {
      const input = { ...sent, [place]: { ...sent[place], [field]: within(value, unseen) } };
      const read = parseInput(endpoint, input);
      const shown = read.ok ? read.value[place as 'body'] : read.detail;
      // What a line end divides may be two texts: a URL with control characters is not altered, but refused.
      const expected =
        field.endsWith('_url') && /\p{Cc}/u.test(unseen)
          ? [{ loc: [place, field], type: 'url_syntax_violation' }]
          : { [field]: value };
      expect(shown, JSON.stringify(unseen)).toMatchObject(expected);
    }
  });

  test('is nothing where it is made of them alone', () => {
    const read = parseInput(setMerchantWallet, {
      body: { blockchain: '\u200B', address: '\uFEFF'.repeat(8) },
    });
    expect(read.ok ? [] : read.detail.map(({ type }) => type)).toEqual([
      'string_too_short',
      'string_too_short',
    ]);
  });

  test('keeps what joins emoji where a person reads it', () => {
    const title = 'For the 👩‍👧 of the house';
    const read = parseInput(createUnit, { body: { title, amount_usd: '1', currencies: ['ton\u200B'] } });
    expect(read.ok ? read.value.body : read.detail).toMatchObject({ title, currencies: ['ton'] });
  });
});

describe('what is pasted into a command line', () => {
  test('names the same as a list, as a number and as a reference', async () => {
    verifies('clean-pasted');
    const list = factsOf(createUnit).flags.find(({ kind }) => kind === 'list');
    const count = factsOf(listInvoices).flags.find(({ kind }) => kind === 'integer');
    if (!list || !count) throw new Error('no such flag');
    const asked: unknown[] = [];
    const call = async (_: unknown, { query }: { query: { q: string } }) => {
      asked.push(query.q);
      return { matches: [{ id: ID }], has_more: false };
    };
    const flag = { field: 'invoice_id', place: 'params' } as const;
    for (const unseen of UNSEEN) {
      expect(wireValue(list, `ton${unseen}, ${unseen}base-usdc`)).toEqual(['ton', 'base-usdc']);
      expect(wireValue(count, within('1234', unseen))).toBe(1234);
      const context = { call } as unknown as Parameters<NonNullable<Command['run']>>[0];
      expect(await wholeId(context, claimPayment, flag, within('order-1001', unseen))).toBe(ID);
      expect(await wholeId(context, claimPayment, flag, within(ID, unseen))).toBe(ID);
    }
    expect(new Set(asked)).toEqual(new Set(['order-1001']));
  });
});
