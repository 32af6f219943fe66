// What the wire carries of an invoice at each change: written by the daemon, read by the scripts of its pages.

export interface LiveStatus {
  invoice_id: string;
  status: string;
  payment_status: string | null;
  amount_match: string;
  /** A decimal string. */
  received_amount: string | null;
  confirmations: number;
  min_confirmations: number;
  txid: string | null;
  /** Unix seconds. */
  expires_at: number;
  /** Equal for equal contents; pages carry it to see whether they are up to date. */
  version: string;
}

/** What an embed reports to the page that shows it, by `postMessage`. A frame has a `size`, a script has open and closed. */
export type EmbedMessage =
  | { type: 'gatewayd:ready' | 'gatewayd:opened' | 'gatewayd:closed'; unit_id?: string; invoice_id?: string }
  | ({ type: 'gatewayd:status' } & LiveStatus)
  | { type: 'gatewayd:size'; height: number };

/** What the page may post to embeds of its own script; without `for`, the id of a unit or an invoice, to all of them. */
export interface EmbedCommand {
  type: 'gatewayd:open' | 'gatewayd:close';
  for?: string;
}

/** The status with the server's time, in Unix seconds. */
export type StatusMessage = LiveStatus & { now: number };
