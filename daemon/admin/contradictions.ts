// What two sources say differently of one thing: shown to the operator, and closed by him.
import type { z } from 'zod';
import { closeContradiction, countContradictions, listContradictions } from '../../data/contradictions.ts';
import type { ContradictionRow } from '../../data/schema/tables.ts';
import { countTable } from '../../data/totals.ts';
import type { AdminContradictions, ContradictionPublic } from '../../src/api/schemas/admin.ts';
import { Refusal } from '../../src/errors.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import type { UserContext } from '../http/handler.ts';
import { operatorName } from './resolve.ts';

/** AdminContradictions. */
export async function contradictionPage(
  { db, config }: Pick<App, 'db' | 'config'>,
  query: { open: boolean; skip: number; limit: number; count?: boolean },
): Promise<z.output<typeof AdminContradictions>> {
  const { skip, limit } = query;
  const rows = await listContradictions(db.query, { ...query, limit: limit + 1 });
  const counts = await countContradictions(
    db.query,
    config.chains.blockchains.map(({ id }) => id),
  );
  const open = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const total = query.count
    ? await countTable(db.query, 'contradictions', query.open ? ['closed_at', null] : null)
    : {};
  return {
    data: rows.slice(0, limit).map(present),
    has_more: rows.length > limit,
    ...{ open, skip, limit, ...total },
  };
}

/** ContradictionPublic of the one that is closed. Refuses with `contradiction_not_found`. */
export async function closeOne(
  { app, user, log }: UserContext,
  id: string,
  note: string | null,
): Promise<z.output<typeof ContradictionPublic>> {
  const closed_by = operatorName(user);
  const row = await closeContradiction(app.db.query, id, { closed_at: seconds(app.clock), closed_by, note });
  if (!row) throw new Refusal('contradiction_not_found');
  log.warn({ contradiction_id: id, kind: row.kind, closed_by, note }, 'a contradiction was closed');
  return present(row);
}

const present = ({ subject: _, ...row }: ContradictionRow) => row;
