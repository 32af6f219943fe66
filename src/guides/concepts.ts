// Concepts: the words of the service, each explained once.
import type { Article } from './article.ts';

export const concepts: readonly Article[] = [
  {
    id: 'concept.unit',
    kind: 'concept',
    title: 'Unit',
    summary: 'One offer of a merchant: title, USD price, accepted currencies, wait time',
    auth: 'none',
    call: 'getUnit',
    docs: `A unit is what a merchant shares or embeds: it has a page, two embed sizes and an id. Each checkout of it creates a new invoice at its price. A merchant of the base plan has at most 3. \`wait_seconds\` is clamped to 300 to 86400. An inactive unit refuses checkout with \`unit_inactive\`.`,
  },
  {
    id: 'concept.invoice',
    kind: 'concept',
    title: 'Invoice and its states',
    summary:
      'What a buyer sees: address, memo, amount, expiry; created, then confirmed, expired, cancelled or failed',
    keywords: 'how long an invoice stays open, wait time',
    auth: 'none',
    call: 'getPublicInvoice',
    docs: `An invoice freezes price and exchange rate. \`created\` is its first state; \`confirmed\`, \`expired\`, \`cancelled\` and \`failed\` are final. As a filter, \`settled\` means \`confirmed\`.

\`amount\` = \`amount_merchant\` + \`amount_fee\`, exactly, in the currency of the chain; \`amount_usd\` is the volume in USD. Times are Unix seconds, UTC. A payment is the on-chain observation attached to it: status, transaction, confirmations, received amount, and a log of every change.`,
  },
  {
    id: 'concept.memo',
    kind: 'concept',
    title: 'Memo',
    summary:
      'The comment that ties a transfer to its invoice; where there is none, the amount itself is unique',
    keywords: 'memo, comment',
    auth: 'none',
    call: 'listGateways',
    docs: `On chains with memos (\`supports_memo\` of a gateway) the buyer must send the invoice's \`memo\` as the comment of the transfer, unchanged. Transfers to one memo add up. A transfer with no memo or an unknown one is never booked by guess: it is listed for the operator, who can resolve it.

On chains without memos (\`memo: null\`) each open invoice has its own amount: the last digits tell them apart, so the buyer must send exactly \`amount\`.`,
  },
  {
    id: 'concept.limit',
    kind: 'concept',
    title: 'Prepaid limit',
    summary:
      'How much USD volume can still be confirmed; it falls with each sale and rises by 100 × a refill',
    keywords: 'prepaid limit',
    auth: 'jwt',
    call: 'getMerchantAccount',
    docs: `Merchants prepay the fee. \`limit_of_payments\` = prepaid balance × 100: a refill of 10 USD covers 1000 USD of sales. Each confirmed invoice of volume V debits V × 0.01, so the limit falls by V.

A payment that arrives while the limit is too low is \`held\`, not lost: the invoice stays \`created\` and \`check\` returns 402 \`limit_exhausted\` with \`required_usd\`, \`remaining_usd\` and \`refill\`. A refill or credit books held payments automatically, oldest first. A sale above the limit raises the event \`limit.exhausted\` before anyone pays, at most once an hour; if the operator has set \`limit_policy: refuse\`, the sale is refused with 402. House merchants have neither limit nor fee. A new merchant starts with limit 0; simulating is never refused for it.`,
  },
  {
    id: 'concept.exits',
    kind: 'concept',
    title: 'Exits: payment links',
    summary: 'Links that open a wallet with the payment filled in: wallet, web, tg',
    keywords: 'payment links, wallet links',
    auth: 'none',
    call: 'getWebExit',
    docs: `\`exits\` of an invoice holds only links that real wallets document: \`wallet\` is the URI of the chain (\`ton:\`, \`solana:\`, \`bitcoin:\`), \`web\` opens a wallet in the browser, \`tg\` the wallet of the messenger, and a wallet's own name (\`metamask\`, \`trust\`) its link. \`GET /v1/exits/{invoice_id}/web\` and \`/tg\` answer for every chain; \`url\` is null where no such wallet documents a link. \`qr_payload\` is what the QR code encodes; where it is the address alone, the payer enters network and amount.`,
  },
  {
    id: 'concept.confirmations',
    kind: 'concept',
    title: 'Confirmations',
    summary: 'How deep in its chain a transfer must be before it counts, per gateway',
    keywords: 'confirmations needed',
    auth: 'none',
    call: 'getInvoicePayment',
    docs: `\`min_confirmations\` of a gateway is the most that a payment needs, and \`min_confirmations\` of a payment how many this one needs: large payments may need more, as \`confirmations\` of the gateway lists by value. \`confirmations\` of an invoice and its payment is how many it has. Where \`confirm_seconds\` is set, the age of the block decides by the time of the chain, and \`until: finalized\` waits for the word of the chain itself: the numbers follow, so that \`confirmations\` reaches \`min_confirmations\` when the payment counts and not before, however fast blocks come. A payment goes \`detected\` → \`confirming\` → \`confirmed\`. An invoice whose transfer arrived in time still waits for its confirmations after \`expires_at\`, for at most 24 hours. A transaction that disappears from the chain (\`orphaned\`) is not counted.`,
  },
  {
    id: 'concept.amount-match',
    kind: 'concept',
    title: 'Amount match: under- and overpayment',
    summary: 'How the received amount compares: none, exact, over, under',
    keywords: 'underpaid, overpaid',
    auth: 'none',
    call: 'getPublicInvoice',
    docs: `\`amount_match\` is \`none\` until something arrives. \`exact\` and \`over\` confirm. \`under\` keeps the invoice \`created\`: \`received_amount\` shows what has arrived, the checkout shows the remaining amount, and on chains with memos the rest can be sent with the same memo. An overpayment is in the merchant's wallet: the service holds no money and cannot send it back.`,
  },
  {
    id: 'concept.gateway',
    kind: 'concept',
    title: 'Gateway ids',
    summary: 'One payable asset on one blockchain: the id that `chain` takes everywhere',
    auth: 'none',
    call: 'listGateways',
    docs: `A gateway id is the blockchain's name for its native coin (\`ton\`, \`solana\`, \`bitcoin\`) and \`<blockchain>-<symbol>\` for a token (\`ton-usdt\`, \`solana-usdc\`). \`currency\` is the ticker, \`blockchain\` what a wallet belongs to. In \`enabled_currencies\` and in a unit's \`currencies\` an entry is an id or a ticker; a ticker means every gateway with it.`,
  },
  {
    id: 'concept.late-payment',
    kind: 'concept',
    title: 'Expiry and late payments',
    summary: 'What happens to money that arrives after an invoice has ended',
    keywords: 'late payment, arrived after expiry',
    auth: 'none',
    call: 'getInvoicePayment',
    docs: `An invoice expires at \`expires_at\` unless a transfer was made before it. Its address stays watched for another 24 hours. A transfer for an ended invoice becomes a \`late\` payment: the merchant is notified by the event \`payment.late\`, the operator sees it and can resolve it. Nothing is dropped and nothing is booked by guess.`,
  },
  {
    id: 'concept.fees',
    kind: 'concept',
    title: 'Fees',
    summary: 'A platform fee of 1 % from the prepaid balance; optionally a surcharge on the payer',
    keywords: 'fee, commission',
    auth: 'none',
    call: 'getPublicConfig',
    docs: `The platform fee (\`platform_fee_rate\`, 0.01) is debited from the merchant's prepaid USD balance for each confirmed invoice. \`service_fee_percent\` (0 unless the operator sets it) is added to what the buyer pays: \`amount_fee\`. Refills have no fee. Network fees are paid by the sender.`,
  },
  {
    id: 'concept.non-custodial',
    kind: 'concept',
    title: 'Non-custodial',
    summary: 'Buyers pay straight into the merchant’s own wallet; the service holds no money and no keys',
    keywords: 'who holds the money, custody, refund',
    auth: 'none',
    call: 'getMerchantWallets',
    docs: `The service only observes blockchains: it knows receive addresses, never private keys or seeds, and can move nothing. So there are no withdrawals, and merchants send refunds from the wallet that was paid.`,
  },
  {
    id: 'concept.demo-mode',
    kind: 'concept',
    title: 'Networks and demo mode',
    summary: 'Mainnet or testnet, and when payments can be simulated',
    keywords: 'testnet, mainnet, demo mode',
    auth: 'none',
    call: 'getPublicConfig',
    docs: `A deployment runs on \`mainnet\` or \`testnet\`, named in \`GET {base_url}/v1/config/public\`. Simulating is allowed only on testnet with \`demo_mode\`; otherwise it is refused with \`demo_off\`. \`rates: demo\` means that exchange rates are not real.`,
  },
];
