// Sign-in with the Telegram login widget: verifies the hash that the bot's token makes.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { UserRow } from '../../data/schema/tables.ts';
import { Refusal } from '../../src/errors.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { accountOf, nameFrom } from './provider-account.ts';

const MAX_AGE_SECONDS = 24 * 3600;
/** Clocks that differ. */
const TOLERANCE_SECONDS = 300;

/** What the widget hands to the page. */
export interface TelegramLogin {
  id: number;
  /** Unix seconds. */
  auth_date: number;
  hash: string;
  first_name?: string | null | undefined;
  last_name?: string | null | undefined;
  username?: string | null | undefined;
  photo_url?: string | null | undefined;
  /** Whatever else came. */
  [name: string]: unknown;
}

/** What would make two signed lines of one member, or a member of a part of a line: Telegram sends none of it. */
const LINE_BREAKS = /[\p{Cc}\u2028\u2029]/u;
const NO_NAME = /[\p{Cc}\u2028\u2029=]/u;

const DESCRIBED = new Set(['id', 'auth_date', 'first_name', 'last_name', 'username', 'photo_url']);

/** The hash Telegram would send with these members: HMAC-SHA256 under SHA-256 of the bot's token, in hex. */
export function telegramHash(bot_token: string, members: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(members)
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`);
  const key = createHash('sha256').update(bot_token).digest();
  return createHmac('sha256', key).update(lines.join('\n')).digest('hex');
}

/** Whether each member is one line, so that what was signed can be read in one way only. */
const isInLines = (members: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(members).every(
    ([name, value]) => !NO_NAME.test(name) && !(typeof value === 'string' && LINE_BREAKS.test(value)),
  );

/**
 * Refuses `sign_in_disabled` without a bot token, `invalid_token` for a wrong hash, one older than 24 hours, and members with a
 * line break.
 */
export async function signInWithTelegram(app: App, login: TelegramLogin): Promise<UserRow> {
  const { bot_token } = app.config.telegram;
  if (bot_token === undefined)
    throw new Refusal('sign_in_disabled', { detail: 'Sign-in with Telegram is not configured' });
  const { hash, ...members } = login;
  const given = Buffer.from(hash.toLowerCase());
  const fits = (signed: Readonly<Record<string, unknown>>): boolean => {
    const expected = Buffer.from(telegramHash(bot_token, signed));
    return given.length === expected.length && timingSafeEqual(given, expected);
  };
  // What a page adds of its own is signed by no one, and is ignored like every unknown member.
  const described = Object.fromEntries(Object.entries(members).filter(([name]) => DESCRIBED.has(name)));
  const right = isInLines(members) && (fits(members) || fits(described));
  const age = seconds(app.clock) - login.auth_date;
  if (!right || age > MAX_AGE_SECONDS || age < -TOLERANCE_SECONDS) throw new Refusal('invalid_token');
  return accountOf(app, {
    source: 'telegram',
    subject: String(login.id),
    email: String(login.id),
    full_name: nameFrom(login.first_name, login.last_name),
  });
}
