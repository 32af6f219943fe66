// Pictures that merchants have uploaded, each stored once for its owner; the ones used least lately make room.
import type { Selectable } from 'kysely';
import type { Executor, Tx } from './db/database.ts';
import type { Tables } from './schema/tables.ts';

export type PictureRow = Selectable<Tables['pictures']>;

export function getPicture(query: Executor, id: string): Promise<PictureRow | undefined> {
  return query.selectFrom('pictures').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Stores a picture, or notes that it is used again. */
export async function putPicture(query: Executor, picture: PictureRow): Promise<void> {
  await query
    .insertInto('pictures')
    .values(picture)
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ used_at: picture.used_at }))
    .execute();
}

/** Notes that a picture of this owner is used; false where it has none of that id. */
export async function touchPicture(
  query: Executor,
  { id, owner_id, used_at }: Pick<PictureRow, 'id' | 'owner_id' | 'used_at'>,
): Promise<boolean> {
  const { numUpdatedRows } = await query
    .updateTable('pictures')
    .set({ used_at })
    .where('id', '=', id)
    .where('owner_id', '=', owner_id)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Removes all of an owner but the `most` that were used last and those that are in use. */
export async function trimPictures(
  tx: Tx,
  { owner_id, most, in_use }: { owner_id: string; most: number; in_use: readonly string[] },
): Promise<void> {
  const rows = await tx
    .selectFrom('pictures')
    .select('id')
    .where('owner_id', '=', owner_id)
    .orderBy('used_at', 'desc')
    .orderBy('id')
    .offset(most)
    .limit(most)
    .execute();
  const unused = rows.map(({ id }) => id).filter((id) => !in_use.includes(id));
  if (unused.length > 0) await tx.deleteFrom('pictures').where('id', 'in', unused).execute();
}
