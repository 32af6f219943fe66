// The one door for money: the verbs by which the rest of the daemon settles. What is behind them is imported by no one else.

export { apply, reevaluateInvoices } from './apply.ts';
export { noteClaim } from './claim.ts';
export { credit, evaluateHeld } from './credit.ts';
export { type Remark, remark } from './dismiss.ts';
export { markAsHouse } from './house.ts';
export { noteShortLimit } from './limit.ts';
export { openInvoice, openInvoiceAlone } from './open.ts';
export { noteAction } from './operator.ts';
export { CursorMoved, recordNamed, recordPage, recordRead, recordUpdates } from './record.ts';
export type { Outcome, ReadScope, SettleDeps } from './step.ts';
export { switchCoin } from './terms.ts';
