// Which refusals a call can meet: its own and those that its sign-in, body and limits bring.
import type { ErrorCode } from '../../errors.ts';
import type { Auth, Endpoint } from './endpoint.ts';

const bearer = ['not_authenticated', 'invalid_credentials', 'user_not_found', 'inactive_user'] as const;

/** What each kind of sign-in can refuse. */
export const authRefusals: Record<Auth, readonly ErrorCode[]> = {
  none: [],
  key: ['invalid_api_key', 'account_inactive'],
  jwt: bearer,
  admin: [...bearer, 'not_superuser'],
  any: [...bearer, 'invalid_api_key', 'account_inactive'],
};

/** All codes of an endpoint but validation (422) and `internal`, each once. */
export function refusalsOf(endpoint: Endpoint): ErrorCode[] {
  const codes: ErrorCode[] = [...authRefusals[endpoint.auth], ...(endpoint.errors ?? [])];
  if (endpoint.body) codes.push('body_too_large');
  if (endpoint.idempotent) codes.push('idempotency_in_progress', 'idempotency_mismatch');
  // Who asks without credentials has a share.
  if (endpoint.limit || endpoint.auth === 'none') codes.push('rate_limited');
  return [...new Set(codes)];
}

/** Whether input can be refused with 422. */
export const isValidated = (endpoint: Endpoint): boolean =>
  endpoint.body !== undefined ||
  Object.keys(endpoint.params ?? {}).length > 0 ||
  Object.keys(endpoint.query ?? {}).length > 0;
