// The remedy of each refusal: a hint for the caller, and the call that helps where there is one.
import { type ErrorCode, errorCodes } from '../../errors.ts';
import type { Method } from '../describe/endpoint.ts';
import { type EndpointId, findEndpoint } from '../endpoints/api.ts';

/** The next call, to be made before the refused one is made again. `path` may hold parameters in braces. */
export interface NextCall {
  operation: EndpointId;
  method: Method;
  path: string;
}

export interface Remedy {
  hint: string;
  next?: NextCall;
}

type Advice = string | { hint: string; next: EndpointId };

const signIn: Advice = {
  hint: 'Sign in and send the token as `Authorization: Bearer <access_token>`',
  next: 'loginAccessToken',
};
const RETRY = 'Wait `Retry-After` seconds, then send the same request again';

/** Null where the sentence of the refusal says all there is. */
const remedies: Record<ErrorCode, Advice | null> = {
  bad_request: null,
  incorrect_password: null,
  same_password: null,
  superuser_self_delete: null,
  transfer_booked: null,
  payer_cannot_pay: 'Pay from another account, or top this one up',
  transaction_unknown:
    'Check the transaction ID in an explorer; to book the payment anyway, send `force: true` with a `note`',
  too_many_unpaid: RETRY,
  asset_unreadable: { hint: 'Choose another `chain` from the gateways', next: 'listGateways' },
  internal: null,
  too_many_streams: 'Close a stream that you no longer read, or poll instead',
  invalid_login: {
    hint: 'Check the email address and password; if you forgot the password, recover it by email',
    next: 'recoverPassword',
  },
  inactive_user: 'Ask the operator of this deployment to activate the user',
  invalid_token: 'Get a new token: tokens expire, and recovery tokens work only once',
  user_exists: { hint: 'Sign in with this address instead', next: 'loginAccessToken' },
  wrong_identity: { hint: 'Find out how this identity signs in', next: 'detectIdentitySource' },
  unknown_chain: { hint: 'Choose a `chain` from the gateways', next: 'listGateways' },
  chain_not_accepted: { hint: 'Choose one of the `chains` that the unit accepts', next: 'getUnit' },
  no_wallet: { hint: 'Set a receive wallet for this blockchain', next: 'setMerchantWallet' },
  invoice_withheld: {
    hint: 'Ask the shop for the details: it reads them with its key, as the operator does',
    next: 'getInvoice',
  },
  invalid_address: 'Send an address of this blockchain on the network that `GET /v1/config/public` names',
  amount_too_small: 'Raise the amount',
  amount_too_large: 'Lower the amount',
  url_not_allowed:
    'Use an http or https URL with a public address; for a return URL, https on one of the `return_hosts` of the account',
  picture_not_allowed: 'Send a PNG, JPEG or WebP of at most 64 kB as `data:image/png;base64,…`',
  not_authenticated: signIn,
  invalid_credentials: signIn,
  invalid_api_key: {
    hint: 'Send the `api_key` of the merchant account as `X-API-Key`',
    next: 'getMerchantAccount',
  },
  limit_exhausted: {
    hint: 'Create a refill and pay it; held payments are then booked automatically',
    next: 'createRefill',
  },
  not_superuser: 'Sign in as a superuser; this call is for the operator',
  demo_off: { hint: 'Pay the invoice on its chain and follow it', next: 'getInvoice' },
  unit_inactive: { hint: 'The merchant can activate it with `active: true`', next: 'updateUnit' },
  account_inactive: 'Ask the operator of this deployment to activate the account',
  unit_limit: {
    hint: 'Delete a unit, change one, or ask the operator for a larger plan',
    next: 'deleteUnit',
  },
  sign_in_disabled: { hint: 'Choose a sign-in method that is enabled', next: 'getPublicConfig' },
  signup_closed: 'Ask the operator of this deployment for an account; existing accounts sign in as before',
  invite_required:
    'Ask the operator for an invite for this address, and send it as `invite`; it works once and expires',
  not_found: { hint: 'The catalog lists all calls', next: 'getCatalog' },
  user_not_found: 'The user does not exist or was deleted; sign up for a new account',
  invoice_not_found: {
    hint: 'List your invoices; invoices of other accounts are not shown',
    next: 'listInvoices',
  },
  unit_not_found: { hint: 'List your units', next: 'listUnits' },
  event_not_found: { hint: 'List your events', next: 'listEvents' },
  event_removed: {
    hint: 'Older events have been removed, perhaps before you read them: list without `after` to start with the oldest that is stored, and compare with your invoices',
    next: 'listEvents',
  },
  merchant_not_found: { hint: 'List the merchants', next: 'listAdminMerchants' },
  daemon_not_found: { hint: 'List the running daemons', next: 'listDaemons' },
  contradiction_not_found: { hint: 'List the open contradictions', next: 'listContradictions' },
  payment_not_waiting: 'Book it, refill the limit, or wait: it is not late, nor does it name no invoice',
  operator_decides: 'Ask the operator of this deployment',
  payment_not_found: { hint: 'List the payments', next: 'listAdminPayments' },
  method_not_allowed: 'Use one of the methods in the `Allow` header',
  email_taken: 'Choose another email address',
  slug_taken: 'Choose another slug',
  no_free_amount:
    'Wait until open invoices at this price have ended, change the price by a cent, or choose another chain',
  invoice_ended: { hint: 'Create a new invoice', next: 'createInvoice' },
  payment_detected: { hint: 'Follow the payment that was detected', next: 'getInvoicePayment' },
  mail_failed: 'Ask the operator to check the mail server in the settings',
  idempotency_in_progress: 'Send the same request again in a moment',
  idempotency_mismatch: 'Use a new Idempotency-Key for a different body',
  body_too_large: 'Send less than 256 kB',
  rate_limited: RETRY,
  no_rate: RETRY,
  provider_unavailable: `${RETRY}; \`GET /v1/gateways\` shows which chains are \`available\``,
  database_busy: RETRY,
  not_ready: RETRY,
  schema_newer:
    'Try again in a moment: other daemons may answer. Otherwise ask the operator to upgrade gatewayd',
  draining: RETRY,
  shutting_down: RETRY,
};

export function nextCall(operation: EndpointId): NextCall {
  const { method, path } = findEndpoint(operation);
  return { operation, method, path };
}

/** What is sent along with a refusal; undefined where nothing helps. */
export function remedyOf(code: ErrorCode): Remedy | undefined {
  const advice = remedies[code];
  if (advice === null) return undefined;
  return typeof advice === 'string' ? { hint: advice } : { hint: advice.hint, next: nextCall(advice.next) };
}

/** All codes with their statuses, sentences and remedies, for the documents. */
export const errorTable = () =>
  (Object.keys(errorCodes) as ErrorCode[]).map((code) => ({ code, ...errorCodes[code], ...remedyOf(code) }));
