// The file of `gw apply`: read with its lines, and refused where it says what no shop has.
import { describe, expect, it } from 'vitest';
import type { GwError } from '../../cli/engine/errors.ts';
import { accountMembers, readShop, unitMembers } from '../../cli/journeys/parts/shop-file.ts';
import { isSameAddress } from '../../cli/journeys/parts/shop-same.ts';
import { moreWallets, wallets } from '../helpers/people.ts';
import { verifies } from '../requirements.ts';

const fault = (text: string): Pick<GwError, 'message' | 'details' | 'kind'> => {
  try {
    readShop(text, 'shop.yaml');
  } catch (error) {
    return error as GwError;
  }
  throw new Error('it was taken');
};

describe('the file of a shop', () => {
  it('has what can be set, and no secret', () => {
    verifies('gw-apply');
    expect(Object.keys(accountMembers)).toEqual(
      expect.arrayContaining(['slug', 'webhook_url', 'enabled_currencies', 'display_name', 'return_hosts']),
    );
    expect(Object.keys(unitMembers)).toEqual(
      expect.arrayContaining(['title', 'amount_usd', 'active', 'listed']),
    );
    for (const name of [...Object.keys(accountMembers), ...Object.keys(unitMembers)])
      expect(name).not.toMatch(/secret|key|token/);
  });

  it('is read as it is written: no price is a float, no address a number', () => {
    verifies('gw-apply');
    const {
      account,
      wallets: found,
      units,
    } = readShop(
      `account:
  display_name: 1984
  support_email:
  webhook_refills: true
  enabled_currencies: [TON, ton-usdt]
wallets:
  base: ${moreWallets.base}
units:
  - title: "null"
    amount_usd: 4.50
    currencies:
      - TON
    wait_seconds: 900
`,
      'shop.yaml',
    );
    expect(account?.values).toEqual({
      display_name: '1984',
      support_email: null,
      webhook_refills: true,
      enabled_currencies: ['TON', 'ton-usdt'],
    });
    expect(found).toMatchObject({ values: { base: moreWallets.base }, lines: { base: 7 } });
    expect(units?.map(({ values }) => values)).toEqual([
      { title: 'null', amount_usd: '4.50', currencies: ['TON'], wait_seconds: 900 },
    ]);
    expect(readShop('{"units": []}', 'shop.json')).toMatchObject({ units: [] });
  });

  it.each([
    ['acount:\n  slug: x', 'line 1: “acount” is no part of a shop', 'did you mean account?'],
    [
      '# shop\naccount:\n  suport_email: a@b.example',
      'line 3: the account has no “suport_email”',
      'did you mean support_email?',
    ],
    ['account:\n  webhook_secret: whsec_x', 'line 2: webhook_secret is a secret', 'gw account update'],
    ['units:\n- title: Tea\n  prize: 3', 'line 3: a unit has no “prize”', 'did you mean'],
    ['units:\n- title: Tea\n  amount_usd: much', 'line 3: amount_usd must be a number', undefined],
    ['units:\n- title:', 'line 2: title needs a value', 'leave it out'],
    ['units:', 'line 1: units is a list', 'units: [] is none'],
    ['wallets:\n  ton:', 'line 2: a wallet cannot be removed', 'leave it out'],
    ['account: [1, 2]', 'line 1: the account has members', undefined],
    ['account:\n  slug: a\n  slug: b', 'line 3: map keys must be unique', undefined],
    ['account:\n  display_name: !!js x', 'line 2: unresolved tag', undefined],
    ['account:\n  return_hosts: &a [*a]', 'line 2: one value is expected', undefined],
    ['account: {slug: [', 'shop.yaml, line 1:', undefined],
    ['', 'line 1: a file has members', undefined],
  ])('%j is refused with its line', (text, message, hint) => {
    verifies('gw-apply');
    const found = fault(text);
    expect(found.kind).toBe('usage');
    expect(found.message).toContain(message);
    if (hint !== undefined) expect(found.details.hint).toContain(hint);
  });

  it('is refused with all that is wrong, each with its line', () => {
    verifies('gw-apply');
    const { message, details } = fault(`account:
  suport_email: a@b.example
  webhook_secret: whsec_x
  slug:
  support_email: no address
wallets:
  ton:
units:
- title: Tea
  amount_usd: much
  currencies: []
- title:
  prize: 3
  amount_usd: {a: b}
`);
    const errors = details.extra?.errors as { line: number; message: string; hint?: string }[];
    expect(errors.map(({ line }) => line)).toEqual([2, 3, 4, 5, 7, 10, 11, 12, 13, 14]);
    expect(errors[0]?.hint).toBe('did you mean support_email?');
    for (const { line, message: one } of errors) expect(message).toContain(`line ${line}: ${one}`);
  });

  it('knows an address in each of its spellings', () => {
    verifies('gw-apply');
    const base = String(moreWallets.base);
    expect(isSameAddress('base', base, base.toLowerCase(), 'testnet')).toBe(true);
    expect(
      isSameAddress('bitcoin', String(wallets.bitcoin), String(wallets.bitcoin).toUpperCase(), 'testnet'),
    ).toBe(true);
    expect(isSameAddress('base', base, `0x${'11'.repeat(20)}`, 'testnet')).toBe(false);
    // One that only the service knows.
    expect(isSameAddress('sonic', base, base, 'testnet')).toBe(true);
  });
});
