// What a text names, as a list shows it: enough of each to choose from.
import type { z } from 'zod';
import { getContradictions } from '../../data/contradictions.ts';
import { daemonsById } from '../../data/daemons.ts';
import { getEvents } from '../../data/events.ts';
import { slugsOf } from '../../data/merchants.ts';
import { getUnits } from '../../data/units.ts';
import { type AdminEntry, entriesOfInvoices, entriesOfPayments } from '../../data/views/admin-list.ts';
import type { ExplainMatch } from '../../src/api/schemas/explain.ts';
import type { MatchKind } from '../../src/explain.ts';
import { formatUsd } from '../../src/money.ts';
import { presentEntry } from '../admin/present.ts';
import type { App } from '../context.ts';
import type { Found } from './find.ts';

type Match = z.output<typeof ExplainMatch>;
type Facts = Omit<Match, 'kind' | 'id' | 'by'>;

const nothing: Facts = {
  status: null,
  amount: null,
  currency: null,
  about: null,
  owner_id: null,
  owner_slug: null,
  created_at: null,
};

/** ExplainMatch of each, in their order; what was removed meanwhile is left out. */
export async function presentMatches(app: Pick<App, 'db'>, found: readonly Found[]): Promise<Match[]> {
  const facts = await factsOf(app, found);
  return found.flatMap((each) => {
    const known = each.use ? addressFacts(each.use) : facts.get(each.id);
    return known ? [{ ...known, kind: each.kind, id: each.id, by: each.by }] : [];
  });
}

const addressFacts = ({ blockchain, address_key, owner_id, since }: NonNullable<Found['use']>): Facts => ({
  ...nothing,
  about: `${address_key} on ${blockchain}`,
  owner_id,
  created_at: since,
});

async function factsOf({ db }: Pick<App, 'db'>, found: readonly Found[]): Promise<Map<string, Facts>> {
  const idsOf = (kind: MatchKind) => found.filter((each) => each.kind === kind).map(({ id }) => id);
  const { query } = db;
  const entries = [
    ...(await entriesOfInvoices(query, idsOf('invoice'))),
    ...(await entriesOfPayments(query, idsOf('payment'))),
  ];
  const merchants = await slugsOf(query, idsOf('merchant'));
  const units = await getUnits(query, idsOf('unit'));
  const events = await getEvents(query, idsOf('event'));
  const contradictions = await getContradictions(query, idsOf('contradiction'));
  const daemons = await daemonsById(query, idsOf('daemon'));
  return new Map<string, Facts>([
    ...entries.map((entry) => ofEntry(entry)),
    ...merchants.map(({ id, slug, created_at }): [string, Facts] => [
      id,
      { ...nothing, about: slug, owner_id: id, owner_slug: slug, created_at },
    ]),
    ...units.map((unit): [string, Facts] => [
      unit.id,
      {
        ...nothing,
        status: unit.active ? 'active' : 'inactive',
        amount: formatUsd(unit.amount_usd_micros),
        currency: 'USD',
        about: unit.title,
        owner_id: unit.merchant_id,
        created_at: unit.created_at,
      },
    ]),
    ...events.map(({ id, type, merchant_id, created_at }): [string, Facts] => [
      id,
      { ...nothing, about: type, owner_id: merchant_id, created_at },
    ]),
    ...contradictions.map(({ id, kind, blockchain, created_at, closed_at }): [string, Facts] => [
      id,
      {
        ...nothing,
        status: closed_at === null ? 'open' : 'closed',
        about: `${kind.replaceAll('_', ' ')} on ${blockchain}`,
        created_at,
      },
    ]),
    ...daemons.map(({ id, host, started_at }): [string, Facts] => [
      id,
      { ...nothing, about: host, created_at: started_at },
    ]),
  ]);
}

function ofEntry(entry: AdminEntry): [string, Facts] {
  const shown = presentEntry(entry);
  return [
    shown.id,
    {
      status: shown.status,
      amount: shown.amount ?? shown.received_amount,
      currency: shown.currency,
      about: shown.external_ref,
      owner_id: shown.owner_id,
      owner_slug: shown.owner_slug,
      created_at: shown.created_at,
    },
  ];
}
