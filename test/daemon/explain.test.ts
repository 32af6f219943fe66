// What became of anything: found by whatever a person has of it, shown to no one else, and what waits for a merchant.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { InvoiceRow } from '../../data/schema/tables.ts';
import { startApp, type TestApp, type TestMerchant } from '../helpers/app.ts';
import { databases } from '../helpers/database.ts';
import { create, fundedMerchant, observe, transferTo } from '../helpers/payments.ts';
import { recordStatements } from '../helpers/statements.ts';
import { verifies } from '../requirements.ts';

const PAGE_URL = 'https://pay.example.com/pay/';

describe.each(databases)('what is explained on %s', (database) => {
  let service: TestApp;
  let ann: TestMerchant;
  let eve: TestMerchant;
  let operator: { id: string; token: string };
  let paid: InvoiceRow;
  let unmatched: { id: string; txid: string };
  const NAMELESS = 'NO-SUCH-MEMO';
  beforeAll(async () => {
    service = await startApp({ database });
    ann = await fundedMerchant(service);
    eve = await fundedMerchant(service);
    operator = await service.superuser();
    paid = await create(service, ann, 'ton', { external_ref: 'order-7' });
    await observe(service, 'ton', [transferTo(service, paid, { final: true })]);
    const open = await create(service, ann, 'ton', { external_ref: 'order-8' });
    const transfer = transferTo(service, open, { memo: NAMELESS, final: true });
    await observe(service, 'ton', [transfer]);
    const { data } = await get('/api/v1/admin/payments?status=unmatched', { token: operator.token });
    unmatched = { id: data[0].id, txid: transfer.txid };
  });
  afterAll(() => service.stop());

  type Who = { token?: string; key?: string };
  const get = async (path: string, who: Who) => {
    const { status, json, text } = await service.fetch('GET', path, who);
    expect(status, text).toBe(200);
    return json;
  };
  const explain = (q: string, who: Who, more = '') =>
    get(`/v1/explain?q=${encodeURIComponent(q)}${more}`, who);
  const eventOf = async (): Promise<string> => {
    const { data } = await get('/api/v1/merchant/events?type=invoice.confirmed', { token: ann.token });
    return data[0].id;
  };
  const transferOf = async () => (await explain(paid.id, { key: ann.key })).story.payment.txid as string;

  test('is the same by all that a person may have of it, to its owner and to an operator', async () => {
    verifies('explain-anything', 'explain-own');
    const event = await eventOf();
    const texts: [string, string][] = [
      [paid.id, 'id'],
      [`${PAGE_URL}${paid.id}`, 'id'],
      [paid.id.slice(-8), 'part_of_id'],
      ['order-7', 'order'],
      [(paid.memo ?? '').toLowerCase(), 'memo'],
      [await transferOf(), 'transaction'],
    ];
    for (const who of [{ key: ann.key }, { token: ann.token }, { token: operator.token }])
      for (const [text, by] of texts) {
        const { matches, story } = await explain(text, who);
        expect(matches, text).toMatchObject([{ kind: 'invoice', id: paid.id, by, status: 'confirmed' }]);
        expect(story.summary).toBe('Paid and booked: 2.5 TON.');
        const kinds = story.moments.map(({ kind }: { kind: string }) => kind);
        expect(kinds).toEqual(expect.arrayContaining(['made', 'seen', 'booked']));
        const times = story.moments.map(({ at }: { at: number }) => at);
        expect(times).toEqual([...times].sort((one, other) => one - other));
      }
    for (const text of [event, event.slice(-8)])
      expect(await explain(text, { token: ann.token })).toMatchObject({
        matches: [{ kind: 'event', id: event }],
        story: { invoice: { id: paid.id }, next: [{ command: `gw event resend ${event}` }] },
      });
    for (const text of [NAMELESS, unmatched.txid, unmatched.id.slice(-8)])
      expect(await explain(text, { token: operator.token })).toMatchObject({
        matches: [{ kind: 'payment', id: unmatched.id }],
        story: {
          summary: '2.5 TON came, and no open invoice is named by it.',
          candidates: [{ about: 'order-8' }],
        },
      });
    const address = await explain(paid.address, { key: ann.key });
    expect(address.matches).toMatchObject([{ kind: 'address' }]);
    expect(address.story.candidates).toMatchObject([{ about: 'order-8' }]);
    expect((await explain(ann.user.email, { token: operator.token })).matches).toMatchObject([
      { kind: 'merchant', id: ann.id },
    ]);
  });

  test("of another's is what a random text of that form gets, after the same statements", async () => {
    verifies('explain-own');
    const event = await eventOf();
    const random = (text: string) =>
      text.replace(/(?<!^)(?<!^e|^ev|^evt)[0-9a-f]/gi, (digit) =>
        ((Number.parseInt(digit, 16) + 5) % 16).toString(16),
      );
    const theirs = [
      paid.id,
      paid.id.slice(-8),
      paid.id.slice(0, 13),
      'order-7',
      paid.memo ?? '',
      NAMELESS,
      await transferOf(),
      unmatched.txid,
      unmatched.id,
      event,
      event.slice(-8),
      ann.user.email,
      ann.id,
    ];
    const recording = recordStatements();
    const asked = async (text: string, who: Who, more = '') => {
      let reply: Record<string, unknown> = {};
      const statements = await recording.during(async () => {
        reply = await explain(text, who, more);
      });
      return { ...reply, query: '', statements: statements.map(({ sql }) => sql) };
    };
    const plain = (text: string) =>
      text.includes('@')
        ? 'no-one@example.org'
        : /^[0-9a-f-]{8,64}$|^evt_/.test(text)
          ? random(text)
          : `x${text}`;
    for (const who of [{ key: eve.key }, { token: eve.token }])
      for (const text of theirs)
        for (const more of ['', '&as=invoice&brief=true']) {
          const found = await asked(text, who, more);
          expect(found, text).toMatchObject({ matches: [], story: null });
          expect(found, text).toEqual(await asked(plain(text), who, more));
        }
    // Nor is the operator's own narrowed view wider.
    expect(await asked(paid.id, { token: operator.token }, '&own=true')).toMatchObject({ matches: [] });
    recording.stop();
  });

  test('resolves to the id that a call wants, and lists what it may be', async () => {
    verifies('explain-references');
    const event = await eventOf();
    const ids = async (q: string, as: string, who: Who = { key: ann.key }) =>
      (await explain(q, who, `&brief=true&as=${as}`)).matches.map(({ id }: { id: string }) => id);
    expect(await ids('order-7', 'invoice')).toEqual([paid.id]);
    expect(await ids(event, 'invoice')).toEqual([paid.id]);
    expect(await ids(await transferOf(), 'payment', { token: operator.token })).toEqual([paid.id]);
    expect(await ids(unmatched.txid, 'payment', { token: operator.token })).toEqual([unmatched.id]);
    expect(await ids('order-7', 'event')).toContain(event);
    // Of a payment that no invoice has, too, by its id and by its transaction.
    for (const text of [unmatched.id, unmatched.txid])
      expect(await ids(text, 'event', { token: operator.token })).toEqual([expect.stringMatching(/^evt_/)]);
    expect(await ids(ann.user.email, 'merchant', { token: operator.token })).toEqual([ann.id]);
    expect(await ids('order-7', 'unit')).toEqual([]);
    await create(service, ann, 'ton', { external_ref: 'twice' });
    await create(service, ann, 'ton', { external_ref: 'twice' });
    const several = await explain('twice', { key: ann.key });
    expect(several).toMatchObject({ story: null, has_more: false });
    expect(several.matches).toHaveLength(2);
    expect(several.next[0].command).toBe(`gw explain ${several.matches[0].id}`);
    const none = await explain('nothing like it', { key: ann.key });
    expect(none).toMatchObject({ matches: [], story: null });
    expect(none.searched).toEqual(expect.arrayContaining(['order', 'memo']));
    expect(none.next.length).toBeGreaterThan(0);
  });

  test('waits for its merchant, with his own candidates and what he may do', async () => {
    verifies('inbox-own');
    const { data, has_more } = await get('/v1/inbox', { key: ann.key });
    expect(has_more).toBe(false);
    const item = data.find(({ id }: { id: string }) => id === unmatched.id);
    expect(item).toMatchObject({ kind: 'unmatched', amount: '2.5', currency: 'TON' });
    const meant = item.candidates.map(({ about }: { about: string }) => about);
    expect(meant).toContain('order-8');
    expect(meant).not.toContain('order-7');
    // Scored like the operator's.
    expect(item.candidates[0]).toMatchObject({
      amount_match: 'exact',
      seconds_apart: expect.any(Number),
      memo_distance: expect.any(Number),
      claimed: false,
    });
    expect(item.next[0].command).toMatch(/^gw explain /);
    for (const { next } of data)
      for (const { command } of next) expect(command).not.toMatch(/^gw admin|gatewayd/);
    expect((await get('/v1/inbox', { token: eve.token })).data).toEqual([]);
  });
});
