// Every refusal there is: its code, its HTTP status and what the caller can do about it.

/** Code → status and the default sentence. Codes are stable: clients switch on them. */
export const errorCodes = {
  bad_request: { status: 400, detail: 'Bad request' },
  invalid_login: { status: 400, detail: 'Incorrect email or password' },
  inactive_user: { status: 400, detail: 'Inactive user' },
  invalid_token: { status: 400, detail: 'Invalid token' },
  user_exists: { status: 400, detail: 'The user with this email already exists in the system' },
  incorrect_password: { status: 400, detail: 'Incorrect password' },
  same_password: { status: 400, detail: 'New password cannot be the same as the current one' },
  wrong_identity: { status: 400, detail: 'This identity signs in with another method' },
  unknown_chain: { status: 400, detail: 'Unknown chain' },
  chain_not_accepted: { status: 400, detail: 'This unit does not accept that chain' },
  no_wallet: { status: 400, detail: 'No receive wallet is set for this blockchain' },
  invalid_address: { status: 400, detail: 'Invalid address' },
  amount_too_small: { status: 400, detail: 'The amount is below the smallest payable amount' },
  amount_too_large: { status: 400, detail: 'The amount is too large' },
  url_not_allowed: { status: 400, detail: 'This URL is not allowed' },
  picture_not_allowed: { status: 400, detail: 'This picture is not allowed' },
  not_authenticated: { status: 401, detail: 'Not authenticated' },
  invalid_api_key: { status: 401, detail: 'Invalid API key' },
  limit_exhausted: { status: 402, detail: 'The prepaid limit is below the invoice volume' },
  invalid_credentials: { status: 403, detail: 'Could not validate credentials' },
  not_superuser: { status: 403, detail: "The user doesn't have enough privileges" },
  operator_decides: { status: 403, detail: 'The operator has decided this' },
  superuser_self_delete: { status: 403, detail: 'Super users are not allowed to delete themselves' },
  demo_off: { status: 403, detail: 'Simulating is allowed only on testnet with demo mode on' },
  unit_inactive: { status: 403, detail: 'This unit is not active' },
  account_inactive: { status: 403, detail: 'This account is not active' },
  unit_limit: { status: 403, detail: 'You have reached the maximum number of units' },
  sign_in_disabled: { status: 403, detail: 'This sign-in method is not configured' },
  signup_closed: { status: 403, detail: 'Sign-up is closed on this deployment' },
  invite_required: { status: 403, detail: 'Sign-up needs an invite for this email address' },
  not_found: { status: 404, detail: 'Not Found' },
  user_not_found: { status: 404, detail: 'User not found' },
  invoice_not_found: { status: 404, detail: 'Invoice not found' },
  unit_not_found: { status: 404, detail: 'Unit not found' },
  event_not_found: { status: 404, detail: 'Event not found' },
  merchant_not_found: { status: 404, detail: 'Merchant not found' },
  daemon_not_found: { status: 404, detail: 'No such daemon' },
  contradiction_not_found: { status: 404, detail: 'No such open contradiction' },
  payment_not_found: { status: 404, detail: 'Payment not found' },
  method_not_allowed: { status: 405, detail: 'Method Not Allowed' },
  invoice_withheld: { status: 410, detail: 'The order has ended, and its details are no longer public' },
  event_removed: { status: 410, detail: 'This event is no longer stored' },
  email_taken: { status: 409, detail: 'User with this email already exists' },
  slug_taken: { status: 409, detail: 'This slug is taken' },
  no_free_amount: { status: 409, detail: 'No free amount is left at this price' },
  invoice_ended: { status: 409, detail: 'The invoice has ended' },
  payment_detected: { status: 409, detail: 'A payment has already been detected' },
  transaction_unknown: { status: 409, detail: 'No transaction with this ID has paid this address' },
  payment_not_waiting: { status: 409, detail: 'Only a late or unmatched payment can be dismissed' },
  payer_cannot_pay: { status: 409, detail: 'This account cannot make the payment' },
  transfer_booked: { status: 409, detail: 'This transaction has already been booked' },
  idempotency_in_progress: { status: 409, detail: 'A request with this Idempotency-Key is in progress' },
  idempotency_mismatch: {
    status: 422,
    detail: 'This Idempotency-Key was already used with a different body',
  },
  body_too_large: { status: 413, detail: 'Request body too large' },
  too_many_unpaid: { status: 429, detail: 'Too many unpaid invoices' },
  rate_limited: { status: 429, detail: 'Too many requests' },
  internal: { status: 500, detail: 'Internal Server Error' },
  no_rate: { status: 503, detail: 'No up-to-date exchange rate' },
  asset_unreadable: { status: 503, detail: 'This asset cannot be read from its blockchain at the moment' },
  provider_unavailable: { status: 503, detail: 'The blockchain provider cannot be reached' },
  mail_failed: { status: 503, detail: 'The mail server did not accept the message' },
  database_busy: { status: 503, detail: 'The database is busy' },
  not_ready: { status: 503, detail: 'This daemon is not ready' },
  schema_newer: {
    status: 503,
    detail: 'The database is of a newer version than this daemon: its operator has to upgrade it',
  },
  draining: { status: 503, detail: 'This daemon is draining: send requests to another one' },
  shutting_down: { status: 503, detail: 'The service is restarting' },
  too_many_streams: { status: 503, detail: 'Too many open streams' },
} as const satisfies Record<string, { status: number; detail: string }>;

export type ErrorCode = keyof typeof errorCodes;

/** What is sent besides `detail` and `code`. */
export interface RefusalOptions {
  /** Replaces the default sentence. */
  detail?: string;
  /** Further members of the body (`required_usd`, `refill`, …). Never secrets. */
  extra?: Record<string, unknown>;
  /** Seconds for `Retry-After`. */
  retry_after?: number;
}

/** An expected failure, the caller's to correct. Thrown anywhere, answered with its status. */
export class Refusal extends Error {
  override name = 'Refusal';
  readonly code: ErrorCode;
  readonly status: number;
  readonly extra: Record<string, unknown>;
  readonly retry_after: number | undefined;
  constructor(code: ErrorCode, options: RefusalOptions = {}) {
    super(options.detail ?? errorCodes[code].detail);
    this.code = code;
    this.status = errorCodes[code].status;
    this.extra = options.extra ?? {};
    this.retry_after = options.retry_after;
  }
}
