// The flags of a command: what one is, and how its text becomes what the wire carries.
import type { Endpoint } from '../../src/api/describe/endpoint.ts';
import { cleanText } from '../../src/clean.ts';
import { factsOf } from './facts.ts';
import type { Flag } from './flag.ts';

export const variableOf = (flag: Pick<Flag, 'name'>): string =>
  `GW_${flag.name.toUpperCase().replaceAll('-', '_')}`;

/**
 * Whether the environment may give a flag. Not what a change leaves alone by default: GW_PASSWORD, set for signing
 * in, must not become the new password of the user that is changed.
 */
export const readsEnvironment = (flag: Flag, method: string | undefined): boolean =>
  !(method === 'PATCH' && flag.place === 'body' && !flag.required);

/** One flag for each member of path, query and body. */
export const flagsOf = (endpoint: Endpoint): readonly Flag[] => factsOf(endpoint).flags;

const TRUE = /^(true|1|yes|on)$/i;

/** A flag's text as the wire carries it; what it cannot be is sent as it is, for the validation to name. */
export function wireValue(flag: Flag, given: string | boolean | readonly string[]): unknown {
  if (flag.kind === 'list') {
    const texts = typeof given === 'object' ? given : [String(given)];
    return texts
      .flatMap((text) => text.split(','))
      .map(cleanText)
      .filter((text) => text !== '');
  }
  if (flag.kind === 'boolean')
    return typeof given === 'boolean'
      ? given
      : TRUE.test(String(given)) || (/^(false|0|no|off)$/i.test(String(given)) ? false : given);
  if (flag.kind === 'integer' && typeof given === 'string' && /^-?\d{1,15}$/.test(cleanText(given)))
    return Number(cleanText(given));
  return given;
}
