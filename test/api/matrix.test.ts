// Every operation × every credential: what is answered follows from the one table of rules, and nothing leaks.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Endpoint } from '../../src/api/describe/endpoint.ts';
import { errorCodes } from '../../src/errors.ts';
import type { Reply, ServiceCall } from '../helpers/app.ts';
import { verifies } from '../requirements.ts';
import {
  type Credential,
  type Ended,
  endedPeople,
  ownedParameter,
  present,
  refusalFor,
  rules,
  strangers,
} from './credentials.ts';
import {
  type Cast,
  described,
  exampleCall,
  openWorld,
  type PlainCall,
  rightful,
  type World,
} from './world.ts';

/** An id that no one has, in the form that ids of events take and in that of all others. */
const ABSENT_ID = '00000000-0000-4000-8000-000000000000';
const NOTHING = 'evt_00000000000040008000000000000000';

const credentials = Object.keys(rules) as Credential[];
const operations = described.map((endpoint) => [endpoint.id, endpoint] as const);
const owned = operations.filter(([, endpoint]) => ownedParameter(endpoint) !== undefined);

let world: World;
let ended: Ended;
/** Whom refused calls are made by and about: they change nothing, so that one cast serves them all. */
let standing: Cast;
beforeAll(async () => {
  world = await openWorld();
  standing = await world.cast();
  ended = await endedPeople(world.service);
});
afterAll(() => world.stop());

const send = (
  { method, path, headers, ...call }: PlainCall,
  { query, ...who }: ServiceCall & { query?: string },
) =>
  world.service.fetch(method, query ? `${path}${path.includes('?') ? '&' : '?'}${query}` : path, {
    ...call,
    ...who,
    headers: { ...headers, ...who.headers },
  });

const as = async (credential: Credential, endpoint: Endpoint, cast: Cast): Promise<Reply> =>
  send(exampleCall(endpoint, cast.values), await present(credential, cast, ended, world.service));

/** How many rows were ever written: what was refused must not raise it. */
async function written(): Promise<unknown> {
  const { rows } = await sql`select total_changes() as written`.execute(world.service.app.db.query);
  return rows[0];
}

describe('of every operation', () => {
  test.each(operations)('%s refuses who may not call it, and does nothing for them', async (_, endpoint) => {
    verifies('auth-key', 'auth-jwt', 'auth-admin', 'bearer-statuses', 'key-401');
    const refused = credentials.filter((credential) => refusalFor(endpoint, credential) !== undefined);
    const before = await written();
    for (const credential of refused) {
      const { status, json } = await as(credential, endpoint, standing);
      const code = refusalFor(endpoint, credential) ?? 'internal';
      expect([credential, status, json.code]).toEqual([credential, errorCodes[code].status, code]);
    }
    expect(await written()).toEqual(before);
  });

  test.each(operations)('%s answers who may call it', async (_, endpoint) => {
    verifies('auth-none', 'error-success-200');
    const allowed = credentials.filter((credential) => refusalFor(endpoint, credential) === undefined);
    for (const credential of allowed) {
      const cast = endpoint.method === 'GET' ? standing : await world.cast();
      const { status, text } = await as(credential, endpoint, cast);
      // This world's providers are all down, and these ask one.
      const asks = ['checkInvoice', 'composePayment', 'resolvePayment', 'lookUpTransaction'].includes(
        endpoint.id,
      );
      const wanted = asks ? 503 : (endpoint.status ?? 200);
      expect([credential, status], text).toEqual([credential, wanted]);
    }
  });

  test.each(operations)(
    '%s checks sign-in before input, but after the form of the body',
    async (_, endpoint) => {
      const call = exampleCall(endpoint, standing.values);
      const anonymous = endpoint.auth === 'none' ? undefined : refusalFor(endpoint, 'anonymous');
      const bad = { ...call, path: call.path.replaceAll(/[0-9a-f-]{36}|evt_\w+/g, 'no-id%00') };
      if (anonymous !== undefined) {
        const { body: _body, ...bare } = bad;
        const { json } = await send(endpoint.body ? { ...bare, body: [] } : bare, {});
        expect(json.code).toBe(anonymous);
      }
      if (endpoint.params && bad.path !== call.path && !ids.has(ownedParameter(endpoint) ?? '')) {
        const { status } = await send(bad, rightful(endpoint.auth, standing));
        expect(status).toBe(422);
      }
      if (!endpoint.body || endpoint.encoding === 'form') return;
      const broken = { ...call, body: '{"a": ', headers: { 'content-type': 'application/json' } };
      const { status, json } = await send(broken, {});
      expect([status, json.detail[0].type]).toEqual([422, 'json_invalid']);
    },
  );

  test.each(operations)('%s refuses every method that its path does not have', async (_, endpoint) => {
    const { path } = exampleCall(endpoint, standing.values);
    const here = described.filter((other) => other.path === endpoint.path);
    const methods = here.map(({ method }) => method as string);
    const allowed = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'];
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      if (methods.includes(method)) continue;
      const answer = await send({ method, path }, { token: standing.operator.token });
      expect(answer.status).toBe(405);
      expect(answer.headers.get('allow')?.split(', ').sort()).toEqual([...allowed].sort());
    }
    const options = await send({ method: 'OPTIONS', path }, {});
    expect([options.status, options.headers.get('access-control-allow-methods') !== null]).toEqual([
      204,
      here.some(({ cors }) => cors),
    ]);
  });
});

/** Parameters that take any text, so that no text of them is malformed. */
const ids: ReadonlySet<string> = new Set(['event_id']);

/** The value of the examples that stands for a parameter. */
const exampleOf = (name: string) => (name === 'payment_id' ? 'paid_invoice_id' : name);

describe("somebody else's thing is answered byte for byte like an absent one", () => {
  const others = strangers.filter((credential) => credential !== 'a superuser');
  test.each(owned)('by %s', async (_, endpoint) => {
    verifies('error-404-foreign', 'get-invoice');
    const cast = standing;
    const name = exampleOf(ownedParameter(endpoint) ?? '');
    for (const credential of others) {
      if (rules[credential][endpoint.auth] !== 'pass') continue;
      const who = await present(credential, cast, ended, world.service);
      const answerFor = async (values: Record<string, string>) => {
        const call = exampleCall(endpoint, values);
        const headers = { ...call.headers, 'x-request-id': 'the-same' };
        const { status, text, headers: received } = await send({ ...call, headers }, who);
        return { status, text, headers: Object.fromEntries(received) };
      };
      const foreign = await answerFor(cast.values);
      const absent = await answerFor({ ...cast.values, [name]: name === 'event_id' ? NOTHING : ABSENT_ID });
      expect(foreign).toEqual(absent);
      expect(foreign.status).toBeGreaterThanOrEqual(400);
      for (const value of [cast.values[name] ?? '', ABSENT_ID, NOTHING])
        expect(foreign.text).not.toContain(value);
    }
  });

  test('and covers every operation that names a thing of its caller', () => {
    expect(owned.map(([id]) => id).sort()).toEqual(
      [
        'checkInvoice',
        'deleteUnit',
        'getInvoice',
        'getUser',
        'remarkOwnPayment',
        'resendEvent',
        'simulateInvoice',
        'updateUnit',
      ].sort(),
    );
  });

  test('also where it is named in a query', async () => {
    const cast = standing;
    const list = async (path: string, who: ServiceCall) => {
      const { status, text } = await world.service.fetch('GET', path, {
        ...who,
        headers: { 'x-request-id': 'the-same' },
      });
      return { status, text };
    };
    for (const [path, id, who] of [
      ['/v1/invoices?after=', cast.values.invoice_id, { key: cast.other.key }],
      ['/v1/invoices?after=', cast.values.invoice_id, { key: cast.operator.token }],
      ['/api/v1/merchant/events?after=', cast.values.event_id, { token: cast.other.token }],
    ] as const) {
      const absent = path.includes('events') ? NOTHING : ABSENT_ID;
      expect(await list(`${path}${id}`, who)).toEqual(await list(`${path}${absent}`, who));
    }
  });
});
