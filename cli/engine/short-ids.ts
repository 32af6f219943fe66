// Short ids: the last or first eight characters that screens and tables show, taken wherever an id is.
import type { Endpoint } from '../../src/api/describe/endpoint.ts';
import {
  listAdminMerchants,
  listAdminPayments,
  listContradictions,
  listDaemons,
} from '../../src/api/endpoints/admin.ts';
import { listInvoices } from '../../src/api/endpoints/invoices.ts';
import { listEvents } from '../../src/api/endpoints/merchant.ts';
import { listUnits } from '../../src/api/endpoints/units.ts';
import { cell } from '../output/cell.ts';
import { memberOf } from '../output/value.ts';
import { rowsOf } from '../output/view.ts';
import type { Context } from './command.ts';
import { GwError } from './errors.ts';
import type { Flag } from './flags.ts';

const SHORT = /^(?:evt_)?[0-9a-f]{8}$/i;
const PAGE = 200;
/** Pages of a list that are searched; an id behind them is given whole. */
const MAX_PAGES = 50;
/** Candidates that an ambiguous one names. */
const NAMED = 8;

interface Source {
  list: Endpoint;
  /** The member that holds the id; `id` by default. */
  id?: string;
  rows?: string;
  /** What tells candidates apart. */
  about: readonly string[];
  query?: Record<string, unknown>;
}

const invoice: Source = { list: listInvoices, about: ['status', 'amount', 'external_ref'] };
const payment: Source = {
  list: listAdminPayments,
  about: ['status', 'amount', 'owner_slug', 'external_ref'],
};
const merchant: Source = { list: listAdminMerchants, id: 'user_id', about: ['slug', 'email'] };
const unit: Source = { list: listUnits, rows: 'units', about: ['title', 'amount_usd'] };

/** Where the ids of a field are listed to the caller. */
function sourceOf(field: string, endpoint: Endpoint): Source | undefined {
  switch (field) {
    case 'invoice_id':
      return endpoint.auth === 'admin' ? payment : invoice;
    case 'owner_id':
    case 'user_id':
      return endpoint.auth === 'admin' ? merchant : undefined;
    case 'unit_id':
      return unit;
    case 'event_id':
      return { list: listEvents, about: ['type', 'timestamp'], query: { order: 'newest' } };
    case 'contradiction_id':
      return { list: listContradictions, about: ['kind', 'txid'] };
    case 'daemon_id':
      return { list: listDaemons, rows: 'daemons', about: ['host', 'status'] };
    default:
      return undefined;
  }
}

/** The whole id of a short one; a value that is none as it is. Refuses what fits none, or several. */
export async function wholeId(
  context: Context,
  endpoint: Endpoint,
  flag: Flag,
  value: unknown,
): Promise<unknown> {
  if (typeof value !== 'string' || !SHORT.test(value)) return value;
  const source = sourceOf(flag.field, endpoint);
  if (!source) return value;
  const part = value.toLowerCase().replace('evt_', '');
  const found = await matching(context, source, part);
  const [only, ...others] = found;
  if (only && others.length === 0) return only.id;
  if (only) {
    const named = found.slice(0, NAMED).map(({ id, about }) => `${id} (${about})`);
    const more = found.length > NAMED ? ` and ${found.length - NAMED} more` : '';
    throw new GwError('usage', `${value} may be ${named.join(', ')}${more}`, {
      code: 'ambiguous_id',
      hint: 'give the whole id, or its last eight characters',
      extra: { candidates: found.map(({ id }) => id) },
    });
  }
  throw new GwError('not_found', `no id in the list begins or ends with ${value}`, {
    code: 'unknown_short_id',
    hint: 'give the whole id',
  });
}

async function matching(
  { call }: Context,
  { list, id: member = 'id', rows: name, about, query }: Source,
  part: string,
) {
  const now_s = Math.floor(Date.now() / 1000);
  const found: { id: string; about: string }[] = [];
  const fields = list.query ?? {};
  let place: Record<string, unknown> = {};
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const asked = { ...query, ...('limit' in fields ? { limit: PAGE } : {}), ...place };
    const reply = (await call(list, { query: asked })) as unknown as Record<string, unknown>;
    const rows = rowsOf(reply, name) ?? [];
    for (const row of rows) {
      const id = String(memberOf(row, member));
      const bare = id.replace('evt_', '');
      if (bare.startsWith(part) || bare.endsWith(part))
        found.push({ id, about: about.map((each) => cell(row, each, 'short', now_s)).join(' ') });
    }
    const hasMore = reply.has_more ?? (page + 1) * PAGE < Number(reply.count ?? 0);
    if (!hasMore || rows.length === 0) break;
    place = 'after' in fields ? { after: reply.next } : { skip: (page + 1) * PAGE };
  }
  return found;
}
