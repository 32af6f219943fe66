// What can be copied of something, and the pages that it has.
import type { Desk } from './view.ts';

export interface Copy {
  key: string;
  what: string;
  text: string | null | undefined;
}

export interface Link {
  key: string;
  what: string;
  url: string | undefined;
}

/** Asks what to copy; the only thing there is at once. */
export function copyMenu(desk: Desk, copies: readonly Copy[]): void {
  const items = copies.flatMap(({ key, what, text }) =>
    text ? [{ key, label: what, run: () => desk.copy(what, text) }] : [],
  );
  const [only] = items;
  if (!only) desk.say('there is nothing to copy', 'bad');
  else if (items.length === 1) only.run();
  else desk.menu('copy', items);
}

export function linkMenu(desk: Desk, links: readonly Link[]): void {
  const items = links.flatMap(({ key, what, url }) =>
    url ? [{ key, label: what, run: () => desk.browse(url) }] : [],
  );
  const [only] = items;
  if (!only) desk.say('it has no page', 'bad');
  else if (items.length === 1) only.run();
  else desk.menu('open', items);
}
