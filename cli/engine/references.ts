// References: where a command wants an id, an order, a memo, a transaction or the end of an id will do; the service resolves it.
import type { CallReply } from '../../src/api/client/call.ts';
import type { Endpoint } from '../../src/api/describe/endpoint.ts';
import { explain } from '../../src/api/endpoints/invoices.ts';
import { cleanText } from '../../src/clean.ts';
import { MAX_REFERENCE, type WantedKind } from '../../src/explain.ts';
import { matchLine } from '../output/explain-card.ts';
import type { Context } from './command.ts';
import { GwError } from './errors.ts';
import type { Flag } from './flag.ts';

const WHOLE = /^(evt_[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})$/i;
/** Candidates that an ambiguous one names. */
const NAMED = 8;

type Named = Pick<Flag, 'field' | 'place' | 'names'>;

/** What the id of a field names; undefined where it is none that the service resolves. */
export function namedBy({ field, place, names }: Named, endpoint?: Endpoint): WantedKind | undefined {
  if (names !== undefined) return names;
  switch (field) {
    case 'invoice_id':
      return endpoint?.auth === 'admin' ? 'payment' : 'invoice';
    case 'payment_id':
      return 'payment';
    case 'owner_id':
    case 'user_id':
      return 'merchant';
    case 'unit_id':
      return 'unit';
    case 'event_id':
      return 'event';
    case 'contradiction_id':
      return 'contradiction';
    case 'daemon_id':
      return 'daemon';
    case 'after':
      return place === 'query' ? continued[endpoint?.id ?? ''] : undefined;
    default:
      return undefined;
  }
}

/** What lists continue behind; claims and bookings are known by their pages only. */
const continued: Readonly<Record<string, WantedKind>> = {
  listEvents: 'event',
  listAdminEvents: 'event',
  listInvoices: 'invoice',
  listAdminUnits: 'unit',
};

/** Asked with the credential of the command itself; where that needs none, with whichever there is. */
const asking = (auth: Endpoint['auth'] = 'none'): typeof explain =>
  ({ ...explain, auth: auth === 'none' ? 'any' : auth }) as typeof explain;

/** The id that a value names; whole ids, and values that are none, as they are. Refuses what names nothing, or several. */
export async function wholeId(
  { call }: Pick<Context, 'call'>,
  endpoint: Endpoint | undefined,
  flag: Named,
  value: unknown,
): Promise<unknown> {
  const as = namedBy(flag, endpoint);
  if (as === undefined || typeof value !== 'string') return value;
  const q = cleanText(value);
  if (q === '' || q.length > MAX_REFERENCE || WHOLE.test(q)) return q;
  // Of users, only operators name others.
  const own = endpoint?.auth !== 'admin' && flag.field !== 'user_id' && flag.field !== 'owner_id';
  const reply = await call(asking(endpoint?.auth), { query: { q, as, own, brief: true } });
  return onlyMatch(reply, q, own).id;
}

type Matches = Pick<CallReply<typeof explain>, 'matches' | 'has_more'>;

/** What a reference names; refuses what names nothing, or several. */
export function onlyMatch(
  { matches, has_more }: Matches,
  q: string,
  own = false,
): Matches['matches'][number] {
  const [only, ...others] = matches;
  if (only && others.length === 0) return only;
  if (!only)
    throw new GwError('not_found', `nothing of ${own ? 'yours' : 'anyone'} is named by “${q}”`, {
      code: 'unknown_reference',
      hint: `gw explain ${JSON.stringify(q)} says where it was searched`,
    });
  const now_s = Math.floor(Date.now() / 1000);
  const named = matches.slice(0, NAMED).map((match) => `${match.id} (${matchLine(match, now_s)})`);
  const rest = matches.length - named.length;
  const more = has_more ? ' and others' : rest > 0 ? ` and ${rest} more` : '';
  throw new GwError('usage', `${q} may be ${named.join(', ')}${more}`, {
    code: 'ambiguous_id',
    hint: 'give the whole id, or its last eight characters',
    extra: { candidates: matches.map(({ id }) => id) },
  });
}
