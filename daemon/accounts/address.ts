// Addresses that people send: read by their blockchain's rules, refused with what is wrong.

import type { Blockchain } from '../../src/chains/catalogue.ts';
import { AddressError } from '../../src/chains/family.ts';
import { Refusal } from '../../src/errors.ts';
import type { App } from '../context.ts';

/** Refuses with `invalid_address`, saying what is wrong and what is expected. */
export function readAddress(app: App, { name, family, address_hint }: Blockchain, text: string) {
  const { network } = app.config;
  try {
    return family.normalizeAddress(text, network);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    const expected = error.message.includes('expected') ? '' : `; expected ${address_hint[network]}`;
    throw new Refusal('invalid_address', {
      detail: `Invalid ${name} ${network} address: ${error.message}${expected}`,
    });
  }
}
