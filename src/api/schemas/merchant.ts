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
