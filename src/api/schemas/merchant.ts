// Replies that show a merchant what buyers will see.
import { z } from 'zod';
import { decimalString, shape } from '../describe/shape.ts';
import { networks, UnitPublic } from './resources.ts';

export const PaymentPagePreview = shape('PaymentPagePreview', {
  slug: z.string(),
  network: z.enum(networks),
  demo_mode: z.boolean(),
  ready: z.boolean().describe('Whether a buyer could pay now'),
  problems: z.array(z.string()).describe('What keeps buyers from paying, each a sentence with its remedy'),
  missing_wallets: z.array(z.string()).describe('Blockchains without a receive address'),
  limit_of_payments: decimalString(),
  units: z.array(UnitPublic),
});

export const EmbedSnippet = shape('EmbedSnippet', {
  id: z.enum(['mobile', 'desktop', 'site']),
  name: z.string(),
  unit_id: z.uuid().nullable().describe('Null in a pattern to fill in'),
  html: z.string().describe('Markup to paste'),
  preview_url: z.string().nullable(),
});

export const EmbedPreview = shape('EmbedPreview', {
  explanation: z.string().describe('Markdown'),
  script_url: z.string(),
  attributes: z.array(z.object({ name: z.string(), values: z.string(), description: z.string() })),
  snippets: z.array(EmbedSnippet),
});

/** In this order what a row names comes after it: whatever is in an export has its invoice in it, too. */
export const exportTables = [
  'ledger',
  'deliveries',
  'events',
  'logs',
  'transfers',
  'payments',
  'income',
  'balances',
  'former_terms',
  'invoices',
  'units',
  'wallets',
  'account',
] as const;

export const ExportPage = shape('ExportPage', {
  table: z.enum(exportTables),
  data: z
    .array(z.record(z.string(), z.unknown()))
    .describe(
      'Rows as they are stored; `_micros` are millionths of a USD and `_atomic` atomic units, both as texts',
    ),
  next: z.string().nullable().describe('Pass it as `after` to continue; null after the last page'),
});
