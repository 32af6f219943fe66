// What a buyer is shown of an invoice, as text that is cached while the invoice stays as it is: wallets and shops ask
// for it again and again until it is paid.
import type { Db } from '../../data/db/open.ts';
import { getInvoice, invoiceState, stateOf } from '../../data/invoices.ts';
import type { InvoiceRow } from '../../data/schema/tables.ts';
import { getPublicInvoice } from '../../src/api/endpoints/buyer.ts';
import { Refusal } from '../../src/errors.ts';
import { boundedCache } from '../cache.ts';
import type { Clock } from '../clock.ts';
import { type Prepared, repeatable, whileSame } from '../http/exchange.ts';
import type { Watched } from '../observer/hints/watched.ts';
import type { Config } from '../settings/config.ts';
import { presentInvoice } from './present.ts';
import { isWithheldNow, requirePublic } from './withheld.ts';

/** Invoices whose text is cached, about 2 kB each. */
const MAX_TEXTS = 5_000;

export interface PublicInvoices {
  /**
   * The answer of `getPublicInvoice`. Each time the database is asked: for the invoice, or whether it is still the same.
   * Refuses with `invoice_not_found` and `invoice_withheld`.
   */
  get(id: string): Promise<Prepared>;
}

export interface PublicInvoicesDeps {
  db: Db;
  config: Pick<Config, 'public_url' | 'public_days'>;
  clock: Clock;
  watched: Pick<Watched, 'note'>;
}

export function openPublicInvoices(deps: PublicInvoicesDeps): PublicInvoices {
  const { db, config, watched } = deps;
  const texts = boundedCache<string, { state: string; row: InvoiceRow; answer: Prepared; note(): void }>(
    MAX_TEXTS,
  );
  return {
    async get(id) {
      const known = texts.get(id);
      if (known && (await invoiceState(db, id))?.state === known.state) {
        requirePublic(deps, known.row);
        known.note();
        return known.answer;
      }
      const row = await getInvoice(db.query, id);
      if (!row) throw new Refusal('invoice_not_found');
      requirePublic(deps, row);
      const state = stateOf(row);
      const note = () => {
        if (row.status === 'created') watched.note(row.blockchain);
      };
      const body = getPublicInvoice.response.parse(presentInvoice(row, config.public_url));
      const isSame = whileSame(db, () => invoiceState.now(db, id)?.state === state);
      const again = () => {
        note();
        return !isWithheldNow(deps, row) && (isSame?.() ?? false);
      };
      const answer = repeatable(body, isSame && again);
      // Of the row that was presented: it may have moved on since the state was read.
      texts.set(id, { state, row, answer, note });
      note();
      return answer;
    },
  };
}
