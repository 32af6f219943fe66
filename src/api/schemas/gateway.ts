// What can be paid with, and the public configuration.
import { z } from 'zod';
import { signupModes } from '../../identity.ts';
import { orNull } from '../describe/fields.ts';
import { count, decimalString, shape, unixSeconds } from '../describe/shape.ts';
import { networks } from './resources.ts';

export const GatewayPublic = shape(
  'GatewayPublic',
  {
    chain: z.string().describe('Gateway id: what `chain` takes everywhere'),
    currency: z.string().describe('Ticker'),
    name: z.string(),
    network: z.enum(networks),
    blockchain: z.string().describe('What a wallet belongs to'),
    blockchain_name: z.string(),
    logo_url: z.string(),
    decimals: count().describe("Decimals of the asset's atomic unit"),
    min_confirmations: count().describe(
      'How many a payment waits for; the largest number where it depends on the value; where time decides, what that is at the present pace of the chain',
    ),
    confirm_seconds: z
      .int()
      .nullable()
      .describe(
        "Seconds of the chain's own time that the block of a payment must be old; null where blocks or the chain's own word decide",
      ),
    confirmations: z
      .array(
        z.object({
          below_usd: decimalString().nullable(),
          blocks: count(),
          seconds: z.int().nullable(),
          until: z.enum(['finalized']).nullable(),
        }),
      )
      .describe(
        "What a payment waits for by the USD value of its invoice, smallest first: blocks, seconds of the chain's own time, or until the chain calls its block final; `blocks` is what that usually is. Empty where all wait for the same",
      ),
    payment_ttl_seconds: count().describe('How long an invoice waits'),
    poll_interval_seconds: count(),
    supports_memo: z.boolean().describe('Whether invoices carry a memo; without one the amount is unique'),
    is_token: z.boolean().default(false),
    token_contract: orNull(z.string()),
    exits: z.array(z.string()).describe('Kinds of payment link that invoices offer'),
    direct_only: z
      .boolean()
      .default(false)
      .describe('Whether payments that a contract makes are not seen: of many exchanges and smart wallets'),
    available: z
      .boolean()
      .describe(
        'Whether its blockchain is read; if not, new invoices are refused with `provider_unavailable`',
      ),
    unavailable_since: unixSeconds().nullable(),
    simulate_only: z
      .boolean()
      .describe('Not available, but in demo mode: invoices are made, and can be simulated only'),
  },
  'One payable asset on one blockchain.',
);

export const GatewayGroupPublic = shape('GatewayGroupPublic', {
  id: z.string(),
  name: z.string(),
  logo_url: z.string(),
  network: z.enum(networks),
  currencies: z.array(GatewayPublic),
});

export const GatewaysResponse = shape('GatewaysResponse', {
  data: z.array(GatewayPublic),
  groups: z.array(GatewayGroupPublic).describe('The same gateways by blockchain'),
  count: count(),
  network: z.enum(networks),
  service_fee_percent: decimalString(),
  default_fiat: z.string(),
  usd_precision: decimalString().describe('The smallest USD amount that makes a difference'),
  memo_length: count(),
});

export const PublicConfig = shape('PublicConfig', {
  version: z.string(),
  network: z.enum(networks),
  demo_mode: z.boolean().describe('Whether payments can be simulated'),
  public_base_url: z.string(),
  default_fiat: z.string(),
  usd_precision: decimalString(),
  memo_length: count(),
  service_fee_percent: decimalString(),
  platform_fee_rate: decimalString(),
  platform_fee_percent: decimalString(),
  refill_credit_multiplier: decimalString(),
  max_payment_units: count(),
  rates: z.enum(['live', 'fixed', 'demo']).describe('Where exchange rates come from; `demo` are not real'),
  signup: z
    .enum(signupModes)
    .describe(
      'Who may sign up: anyone, those whom the operator invites, or no one. Beyond the specification',
    ),
  google_login: z.boolean(),
  google_client_id: z.string().nullable(),
  telegram_login: z.boolean(),
});
