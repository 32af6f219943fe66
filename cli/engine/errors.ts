// What can go wrong, as programs read it: exit code, kind, and what to do about it.
import { cleanText } from '../../src/clean.ts';

/** Exit codes by kind. Documented by `gw help exit-codes`; stable. */
export const exits = {
  ok: { code: 0, means: 'done' },
  general: { code: 1, means: 'failed for a reason not listed here' },
  usage: { code: 2, means: 'the command line or its input is wrong (HTTP 400, 413, 422)' },
  not_found: { code: 3, means: 'not found, or no longer there (404, 410)' },
  conflict: { code: 4, means: 'the current state does not allow this (409)' },
  limit: { code: 5, means: 'the prepaid limit is too low: refill (402)' },
  ended: { code: 6, means: 'the invoice ended unpaid: expired, cancelled or failed' },
  unreachable: { code: 69, means: 'the service cannot be reached' },
  retry: { code: 75, means: 'try again later (429, 503)' },
  unknown: { code: 76, means: 'no answer came: it is not known whether it was done' },
  auth: { code: 77, means: 'not signed in, or not permitted (401, 403)' },
  config: { code: 78, means: 'the configuration of gw is wrong' },
  timeout: { code: 124, means: 'the awaited state was not reached in time' },
  interrupted: { code: 130, means: 'interrupted (Ctrl-C)' },
} as const;

export type Kind = keyof typeof exits;

export interface Details {
  code?: string;
  hint?: string | undefined;
  /** The endpoint that helps, as the service says. */
  operation?: string | undefined;
  /** Whether the remedy of the code is to be added to the hint, as a command. */
  wants_remedy?: true;
  status?: number | null;
  request_id?: string | null;
  retry_after?: number | null;
  /** Further members for programs: the entries of a 422, what a refill needs, … */
  extra?: Record<string, unknown>;
}

/** An expected failure of a command. */
export class GwError extends Error {
  override name = 'GwError';
  readonly kind: Kind;
  readonly details: Details;
  /** In words of the command line, where the message is the service's. */
  in_words: string | undefined;
  constructor(kind: Kind, message: string, details: Details = {}) {
    super(message);
    this.kind = kind;
    this.details = details;
  }
  get exit_code(): number {
    return exits[this.kind].code;
  }
  /** `{error: {…}}`, as `--json` prints it. */
  toJSON(): { error: Record<string, unknown> } {
    const { code, hint, status, request_id, retry_after, extra } = this.details;
    return {
      error: {
        code: code ?? this.kind,
        kind: this.kind,
        message: this.message,
        hint: hint ?? null,
        status: status ?? null,
        request_id: request_id ?? null,
        exit_code: this.exit_code,
        ...(retry_after == null ? {} : { retry_after }),
        ...extra,
      },
    };
  }
}

export const usage = (message: string, hint?: string): GwError => new GwError('usage', message, { hint });

/** Refusals of sign-in that the interface answers with 400. */
const SIGN_IN_CODES = new Set([
  'invalid_login',
  'inactive_user',
  'wrong_identity',
  'invalid_token',
  'incorrect_password',
]);

const byStatus: Record<number, Kind> = {
  400: 'usage',
  401: 'auth',
  402: 'limit',
  403: 'auth',
  404: 'not_found',
  410: 'not_found',
  409: 'conflict',
  413: 'usage',
  422: 'usage',
  429: 'retry',
  502: 'unreachable',
  503: 'retry',
  504: 'unreachable',
};

const kindOf = (status: number, code: string): Kind =>
  SIGN_IN_CODES.has(code) ? 'auth' : (byStatus[status] ?? 'general');

/** What to do where `gw` has a way of its own; else the remedy of the refusal names the call, and its command is shown. */
const hints: Record<string, string> = {
  not_authenticated: 'gw login --email ADDRESS',
  invalid_credentials: 'the token has expired or was revoked: gw login',
  invalid_api_key: 'gw login, or give a key with --api-key, GW_API_KEY or gw login --api-key-stdin',
  not_superuser: 'sign in as an operator: gw login --email ADDRESS --profile operator',
  idempotency_mismatch: 'use another --idempotency-key for another input',
};

const SECOND_MS = 1000;

interface Refused {
  status: number;
  code: string;
  request_id: string | null;
  retry_after: number | null;
  body: Record<string, unknown>;
}

/** Any thrown value as a GwError; `undefined` for a bug, whose stack should be seen. */
export function toGwError(error: unknown): GwError | undefined {
  if (error instanceof GwError) return error;
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'ApiError') return fromRefusal(error as Error & Refused);
  // What @inquirer/prompts throws on Ctrl-C.
  if (error.name === 'ExitPromptError') return new GwError('interrupted', 'interrupted');
  if (error.name === 'TimeoutError')
    return new GwError('unreachable', 'the service did not answer in time', {
      hint: 'gw doctor; a longer --timeout may help',
    });
  return undefined;
}

function fromRefusal(error: Error & Refused): GwError {
  const { status, code, request_id, retry_after, body } = error;
  const { detail, code: _code, request_id: _id, hint, ...others } = body;
  const extra = Array.isArray(detail) ? { ...others, errors: detail } : others;
  return new GwError(kindOf(status, code), error.message, {
    code,
    status,
    request_id,
    retry_after,
    hint: hints[code] ?? (typeof hint === 'string' ? hint : undefined),
    ...(hints[code] === undefined ? { operation: operationOf(body), wants_remedy: true } : {}),
    extra,
  });
}

/** The call that the refusal says to make next. */
const operationOf = ({ next }: Record<string, unknown>): string | undefined => {
  const operation =
    typeof next === 'object' && next !== null && 'operation' in next ? next.operation : undefined;
  return typeof operation === 'string' ? operation : undefined;
};

/** No answer, or none that is whole; `cause` says why. */
export class NetworkError extends Error {
  override name = 'NetworkError';
  /** Whether the service may have received the request. */
  readonly sent: boolean;
  constructor(cause: unknown, sent: boolean) {
    super(sent ? 'the connection broke off' : 'no connection', { cause });
    this.sent = sent;
  }
}

/** How Node.js calls what is wrong with a certificate. */
const CERTIFICATE = /CERT|UNABLE_TO_VERIFY|SELF_SIGNED/;

/** For a call that no one answered. */
export function unreachable(url: string, error: unknown): GwError {
  const cause = (error as { cause?: { code?: string; message?: string } }).cause;
  const code = cause?.code ?? '';
  const origin = new URL(url).origin;
  if (code.startsWith('HPE_'))
    return new GwError('unreachable', `${origin} answers, but no HTTP that can be read: ${cause?.message}`, {
      code: 'not_gatewayd',
      hint: 'check the address: gw config get url --show-origin',
    });
  if (CERTIFICATE.test(code))
    return new GwError('unreachable', `the certificate of ${origin} is not trusted: ${cause?.message}`, {
      code: 'unreachable',
      hint: 'a certificate of your own is trusted by NODE_EXTRA_CA_CERTS=FILE',
    });
  const why = code || cause?.message || (error as Error).message;
  return new GwError('unreachable', `cannot reach ${origin}: ${why}`, {
    code: 'unreachable',
    hint: 'check that the daemon is running (gatewayd start) and that the address is right (gw config get url --show-origin)',
  });
}

/** `60s`, `500ms`, `5m`, `1h` or plain seconds → milliseconds. Throws a usage error. */
export function milliseconds(text: string, flag: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(cleanText(text));
  if (!match) throw usage(`${flag} takes a duration such as 500ms, 60s, 5m or 1h, not “${text}”`);
  const unit = { ms: 1, s: SECOND_MS, m: 60 * SECOND_MS, h: 3600 * SECOND_MS }[match[2] ?? 's'] ?? SECOND_MS;
  return Math.round(Number(match[1]) * unit);
}
