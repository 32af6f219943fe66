// The operator's own shop: marked and unmarked by the operator alone.
import type { z } from 'zod';
import { getUser } from '../../data/users.ts';
import { figuresOf } from '../../data/views/merchants.ts';
import type { AdminMerchant } from '../../src/api/schemas/admin.ts';
import { Refusal } from '../../src/errors.ts';
import { merchantOf } from '../accounts/create.ts';
import type { UserContext } from '../http/handler.ts';
import { evaluateHeld, markAsHouse } from '../settle/settle.ts';
import { presentMerchant } from './present.ts';
import { operatorName } from './resolve.ts';

interface Mark {
  house: boolean;
  note: string | null;
}

/** Marks or unmarks a merchant, books what was held, and answers AdminMerchant. Refuses with `merchant_not_found`. */
export async function setHouse(
  { app, user, log }: UserContext,
  merchant_id: string,
  { house, note }: Mark,
): Promise<z.output<typeof AdminMerchant>> {
  const owner = await getUser(app.db.query, merchant_id);
  if (!owner) throw new Refusal('merchant_not_found');
  // The account of a superuser is made when it is first asked for.
  await merchantOf(app, owner);
  const { changed, held } = await markAsHouse(app, { merchant_id, house });
  const actor = operatorName(user);
  if (changed) log.warn({ merchant_id, actor, house, note }, 'merchant of the house changed');
  await evaluateHeld(app, merchant_id, held);
  const [figures] = await figuresOf(app.db.query, [merchant_id]);
  if (!figures) throw new Refusal('merchant_not_found');
  return presentMerchant(figures);
}
