// The views by the name that `:` takes, for the operator and for a merchant.
import { Dashboard } from './dashboard.ts';
import { Detail, type DetailSpec } from './detail.ts';
import { List, type ListSpec } from './list.ts';
import type { Desk, Place, View } from './view.ts';
import { contradictions } from './views/contradictions.ts';
import { events, ownEvents } from './views/events.ts';
import { gateways } from './views/gateways.ts';
import { inbox } from './views/inbox.ts';
import { invoiceDetail, invoices } from './views/invoices.ts';
import { ledger } from './views/ledger.ts';
import { merchantDetail, merchants } from './views/merchants.ts';
import { observers } from './views/observers.ts';
import { paymentDetail } from './views/payment.ts';
import { payments } from './views/payments.ts';
import { rates } from './views/rates.ts';
import { storyDetail } from './views/story.ts';
import { ownUnits, units } from './views/units.ts';
import { ownWebhooks, webhooks } from './views/webhooks.ts';

// biome-ignore lint/suspicious/noExplicitAny: each has rows of its own
type AnySpec = ListSpec<any>;
type Open = (desk: Desk, place: Place) => View;

const list =
  (specOf: (desk: Desk, place: Place) => AnySpec): Open =>
  (desk, place) => {
    const spec = specOf(desk, place);
    const [word = '', ...rest] = (place.filter ?? '').split(' ');
    // `:payments held` asks for what is held, `:payments order-7` searches.
    return spec.choices?.includes(word) && word !== ''
      ? new List(desk, spec, { ...place, choice: word, filter: rest.join(' ') })
      : new List(desk, spec, place);
  };

const dashboard: Open = (desk) => new Dashboard(desk);

const operator: Readonly<Record<string, Open>> = {
  dashboard,
  payments: list(payments),
  inbox: list(inbox),
  merchants: list(merchants),
  units: list(units),
  webhooks: list(webhooks),
  events: list(events),
  ledger: list(ledger),
  observers: list(observers),
  contradictions: list(contradictions),
  rates: list(rates),
  gateways: list(gateways),
};

const merchant: Readonly<Record<string, Open>> = {
  dashboard,
  payments: list(invoices),
  inbox: list(inbox),
  units: list(ownUnits),
  webhooks: list(ownWebhooks),
  events: list(ownEvents),
  ledger: list(ledger),
  gateways: list(gateways),
};

// biome-ignore lint/suspicious/noExplicitAny: each has data of its own
type AnyDetail = DetailSpec<any>;

/** Of one thing; no one types their names. */
const details: Readonly<
  Record<Desk['who'], Readonly<Record<string, (desk: Desk, place: Place) => AnyDetail>>>
> = {
  operator: { payment: paymentDetail, merchant: merchantDetail },
  merchant: { payment: invoiceDetail, story: storyDetail },
};

const views: Readonly<Record<Desk['who'], Readonly<Record<string, Open>>>> = { operator, merchant };

export const viewNames = (who: Desk['who']): readonly string[] => Object.keys(views[who]);

export function openView(desk: Desk, place: Place): View {
  const detail = detailOf(desk, place);
  if (detail) return new Detail(desk, detail);
  const open = views[desk.who][place.view];
  if (!open) throw new Error(`no view ${place.view}`);
  return open(desk, place);
}

export const detailOf = (desk: Desk, place: Place): AnyDetail | undefined =>
  details[desk.who][place.view]?.(desk, place);
