// A payment for the payer's wallet to sign, and what wallets show before they ask for it.
import { z } from 'zod';
import { decimalString, shape, unixSeconds } from '../describe/shape.ts';

export const TransactionRequest = shape(
  'TransactionRequest',
  {
    label: z.string().describe('Who is paid'),
    icon: z.url().describe('A picture of who is paid: PNG or WebP'),
  },
  'What a wallet shows before it asks for the payment.',
);

const message = z.string().describe('What is paid for, to be shown by the wallet');

const ComposedTransaction = shape(
  'ComposedTransaction',
  {
    kind: z.literal('transaction'),
    message,
    transaction: z.string().describe('One whole transaction without its signature, base64'),
    valid_seconds: z
      .int()
      .describe('For how long from now on the network takes it: after that, ask for a fresh one'),
  },
  'A whole transaction: the wallet signs it and sends it within `valid_seconds`, or makes it last by a blockhash of its own.',
);

const ComposedMessages = shape(
  'ComposedMessages',
  {
    kind: z.literal('messages'),
    message,
    network: z.string().describe('The network as wallets name it'),
    valid_until: unixSeconds().describe('The wallet sends nothing later; Unix seconds'),
    messages: z.array(
      z.object({
        address: z.string(),
        amount: decimalString().describe("Of the chain's coin, in atomic units"),
        payload: z.string().describe('base64'),
      }),
    ),
  },
  'Messages: the wallet makes its own transaction of them, for the account that was named.',
);

export const ComposedPayment = z.discriminatedUnion('kind', [ComposedTransaction, ComposedMessages]).meta({
  id: 'ComposedPayment',
  description:
    'A payment for the wallet of the payer to sign. Nothing of it is signed, and nothing else is in it.',
});

export const WalletManifest = shape(
  'WalletManifest',
  { url: z.url(), name: z.string(), iconUrl: z.url() },
  'What wallets show of this service. The names of its members are those of their protocol.',
);
