// The names of what can be made to happen in the sandbox, with what each is.

export const triggerKinds = {
  'invoice.created': 'an invoice, and no payment',
  'invoice.confirmed': 'an invoice that is paid exactly',
  'invoice.expired': 'an invoice that no one pays: takes a minute',
  'invoice.cancelled': 'an invoice that its buyer cancels',
  'payment.under': 'half of what the invoice asks',
  'payment.over': 'half more than the invoice asks',
  'payment.late': 'a payment after the end of its invoice: takes a minute',
  'payment.unmatched': 'a payment without the memo',
  'payment.twice': 'the same invoice paid again after its confirmation',
  'payment.reorganised': 'a payment that a fork leaves out before it is final: takes a minute',
  'webhook.refused': 'a paid invoice whose first webhook is answered with 500',
} as const;

export type TriggerKind = keyof typeof triggerKinds;

export const isTriggerKind = (text: string): text is TriggerKind => Object.hasOwn(triggerKinds, text);
