// The merchant account for a person: what it may still sell, then access, webhooks, sales, fee, and what buyers see.
import type { CallReply } from '../../src/api/client/call.ts';
import type { getMerchantAccount } from '../../src/api/endpoints/merchant.ts';
import type { Card } from './card.ts';
import { dollars } from './money.ts';
import { masked } from './text.ts';
import { moment } from './value.ts';

export type Account = CallReply<typeof getMerchantAccount>;

export function accountCard(account: Account, now_s: number): Card {
  const optional = (label: string, text: string | null): [string, string][] =>
    text === null || text === '' ? [] : [[label, text]];
  const until = (label: string, at: number | null) => optional(label, at === null ? null : moment(at, now_s));
  const { webhook_secret, house } = account;
  return {
    headline: `${account.slug}   ${account.network}   ${house ? 'house merchant' : `${dollars(account.limit_of_payments)} can still be confirmed`}`,
    status: '',
    sections: [
      {
        title: 'access',
        rows: [
          ['key', masked(account.api_key)],
          ...until('key before, until', account.previous_api_key_ends_at),
        ],
      },
      {
        title: 'webhook',
        rows: [
          ['address', account.webhook_url ?? 'none: gw account update --webhook-url URL'],
          ['secret', webhook_secret === null ? 'none' : masked(webhook_secret)],
          ...until('secret before, until', account.previous_webhook_secret_ends_at),
          ['refills', account.webhook_refills ? 'posted as well' : 'not posted'],
        ],
      },
      {
        title: 'sales',
        rows: [
          [
            'currencies',
            account.enabled_currencies.length > 0 ? account.enabled_currencies.join(', ') : 'all',
          ],
          ['units', `at most ${account.max_payment_units}`],
          ['plan', account.plan],
          ['fee', house ? 'none' : `${account.platform_fee_percent} %: ${account.fee_description}`],
        ],
      },
      {
        title: 'what buyers see',
        rows: [
          ...optional('name', account.display_name),
          ...optional('logo', account.logo_url),
          ...optional('mail', account.support_email),
          ...optional('support', account.support_url),
          ...optional('site', account.site_url),
          ...optional('on receipts', account.legal_line),
          ...optional('leads back to', account.return_hosts.join(', ')),
        ],
      },
    ],
  };
}
