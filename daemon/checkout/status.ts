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

/** The status with the server's time, in Unix seconds. */
export type StatusMessage = LiveStatus & { now: number };
