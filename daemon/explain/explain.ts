// What became of whatever a person has of a payment, with the rights of who asks.
import type { z } from 'zod';
import type { Scope } from '../../data/references.ts';
import type { InputOf } from '../../src/api/describe/endpoint.ts';
import type { explain } from '../../src/api/endpoints/invoices.ts';
import type { Explanation } from '../../src/api/schemas/explain.ts';
import type { App } from '../context.ts';
import type { EitherContext } from '../http/handler.ts';
import { ownerId } from '../invoices/find.ts';
import { findAll, MATCHES_SHOWN, type Search } from './find.ts';
import { presentMatches } from './matches.ts';
import { storyOf } from './story.ts';

type Reply = z.output<typeof Explanation>;

/** Whose things who asks may see: a superuser everyone's, unless only his own are wanted. */
export function scopeOf({ user, owner }: Pick<EitherContext, 'user' | 'owner'>, own: boolean): Scope {
  if (user) return user.is_superuser && !own ? undefined : user.id;
  return owner ? ownerId(owner) : '';
}

/** Explanation. */
export async function explainAny(
  app: App,
  { q, as, brief }: InputOf<typeof explain>['query'],
  scope: Scope,
): Promise<Reply> {
  const search = await findAll(app, { q, as }, scope);
  const shown = search.found.slice(0, MATCHES_SHOWN);
  const [only] = shown;
  const story =
    !brief && only && search.found.length === 1
      ? await storyOf(app, only, { scope, readsAll: scope === undefined })
      : null;
  return {
    query: q,
    searched: search.searched,
    matches: await presentMatches(app, shown),
    has_more: search.found.length > MATCHES_SHOWN,
    story,
    next: story ? [] : nextOf(search, scope),
  };
}

/** How to come to a story where there is none. */
function nextOf({ found }: Search, scope: Scope): Reply['next'] {
  if (found.length > 0)
    return found.slice(0, 1).map(({ id }) => ({
      command: `gw explain ${id}`,
      why: 'choose one by its id',
    }));
  return [
    scope === undefined
      ? { command: 'gw admin inbox', why: 'see what waits for a person' }
      : { command: 'gw inbox', why: 'see what waits for a person' },
    scope === undefined
      ? { command: 'gw admin observers', why: 'see whether the blockchain is read' }
      : {
          command: 'gw invoice check INVOICE',
          why: 'have the chain read now where a payment should be there',
        },
  ];
}
