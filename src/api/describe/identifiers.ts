// Identifiers in requests: UUIDs of any version and spelling, and email addresses.

import type { z } from 'zod';
import { cleanText } from '../../clean.ts';
import { coerced, FieldError } from './field-error.ts';
import { lengthFault, readText } from './fields.ts';

const GROUPS = [8, 4, 4, 4, 12];
const HEX = 32;
/** As this service writes them. */
const CANONICAL = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Why a text is not a UUID, in the words of the library that pydantic uses; null where it is one. */
function uuidError(text: string): string | null {
  const position = text.search(/[^0-9a-fA-F-]/);
  if (position >= 0) {
    const found = String.fromCodePoint(text.codePointAt(position) ?? 0);
    return `invalid character: expected an optional prefix of \`urn:uuid:\` followed by [0-9a-fA-F-], found \`${found}\` at ${position + 1}`;
  }
  const groups = text.split('-');
  if (groups.length === 1)
    return text.length === HEX
      ? null
      : `invalid length: expected length ${HEX} for simple format, found ${text.length}`;
  if (groups.length !== GROUPS.length)
    return `invalid group count: expected ${GROUPS.length}, found ${groups.length}`;
  const wrong = groups.findIndex((group, index) => group.length !== GROUPS[index]);
  return wrong < 0
    ? null
    : `invalid group length in group ${wrong}: expected ${GROUPS[wrong]}, found ${groups[wrong]?.length}`;
}

/** A UUID of any version, with or without dashes, braces or `urn:uuid:`; read as lower case with dashes. */
export function uuid(): z.ZodType<string, string> {
  return coerced({ type: 'string', format: 'uuid' }, (input) => {
    if (typeof input !== 'string')
      return new FieldError('uuid_type', 'UUID input should be a string, bytes or UUID object');
    if (CANONICAL.test(input)) return input;
    const bare = cleanText(input)
      .replace(/^\{(.*)\}$/, '$1')
      .replace(/^urn:uuid:/i, '');
    const error = uuidError(bare);
    if (error) return new FieldError('uuid_parsing', `Input should be a valid UUID, ${error}`, { error });
    const hex = bare.replaceAll('-', '').toLowerCase();
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  });
}

/** Longest email address, in characters. */
export const MAX_EMAIL = 255;
/** RFC 5321: longest part before the @-sign, and longest label of a domain (RFC 1035). */
const MAX_LOCAL = 64;
const MAX_LABEL = 63;
const LOCAL = /^[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+)*$/u;
/** What a messaging account is known by. */
const NUMBER = /^\d+$/;
const LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]*[\p{L}\p{N}\p{M}])?$/u;

/** How an address is compared and stored: composed, lower case. */
export const normalizeEmail = (text: string): string => cleanText(text).normalize('NFC').toLowerCase();

/** Why a text is no email address; null where it is one. */
export function emailError(text: string): string | null {
  const at = text.lastIndexOf('@');
  if (NUMBER.test(text))
    return 'An email address must have an @-sign. Numeric ids sign in with Telegram, POST /api/v1/login/telegram.';
  if (at < 0) return 'An email address must have an @-sign.';
  const local = text.slice(0, at);
  const domain = text.slice(at + 1);
  if (local === '') return 'There must be something before the @-sign.';
  if (domain === '') return 'There must be something after the @-sign.';
  if (local.length > MAX_LOCAL) return 'The email address is too long before the @-sign.';
  if (!LOCAL.test(local)) return 'The email address contains invalid characters before the @-sign.';
  const labels = domain.split('.');
  if (labels.length < 2) return 'The part after the @-sign is not valid. It should have a period.';
  if (labels.some((label) => label.length > MAX_LABEL))
    return 'The email address is too long after the @-sign.';
  if (!labels.every((label) => LABEL.test(label)))
    return 'The part after the @-sign contains invalid characters.';
  return null;
}

/** An email address of at most 255 characters, read in lower case. Special-use domains are allowed. */
export function email(): z.ZodType<string, string> {
  return coerced({ type: 'string', format: 'email', maxLength: MAX_EMAIL }, (input) => {
    const value = readText(input);
    if (value instanceof FieldError) return value;
    const address = normalizeEmail(value);
    const reason = emailError(address);
    if (reason)
      return new FieldError('value_error', `value is not a valid email address: ${reason}`, { reason });
    return lengthFault(address, 0, MAX_EMAIL) ?? address;
  });
}
