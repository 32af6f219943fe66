// One value of a reply as text: times, ids, lists.
import { clean } from './text.ts';

export type Row = Record<string, unknown>;

const SECOND = 1;
const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

export const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const memberOf = (row: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (isRow(value) ? value[name] : undefined), row);

export const SHORT_ID = 8;

/** What distinguishes an id from others: its end, since ids that were made together begin alike. */
export const shortId = (id: string): string => id.slice(-SHORT_ID);

/** Who did something, with the end of his id alone: `operator:40ca64e6`. */
export const actorName = (actor: string): string => actor.replace(/[0-9a-f-]{28}(?=[0-9a-f]{8}$)/, '');

/** `3 m ago`, `in 4 m`; `now_s` in Unix seconds. */
export function relative(at: number, now_s: number): string {
  const distance = Math.abs(now_s - at);
  const [size, unit]: [number, string] =
    distance < MINUTE
      ? [SECOND, 's']
      : distance < HOUR
        ? [MINUTE, 'm']
        : distance < DAY
          ? [HOUR, 'h']
          : [DAY, 'd'];
  const text = `${Math.floor(distance / size)}${unit}`;
  return at > now_s ? `in ${text}` : `${text} ago`;
}

/** `2026-11-23 07:01:46 UTC (3m ago)`. */
export const moment = (at: number, now_s: number): string =>
  `${new Date(at * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC (${relative(at, now_s)})`;

/** A member as text: times are ISO 8601, or relative for a person; lists are joined. */
export function show(name: string, value: unknown, people: boolean): string {
  if (value === null || value === undefined) return people ? '–' : '';
  if (typeof value === 'number' && /(^|[._])at$/.test(name))
    return people ? relative(value, Math.floor(Date.now() / 1000)) : new Date(value * 1000).toISOString();
  if (Array.isArray(value)) return value.map((item) => show('', item, people)).join(', ');
  if (isRow(value)) return clean(JSON.stringify(value));
  return clean(String(value));
}
