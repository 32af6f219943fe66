// What spec.md promises of sign-in, events, errors, limits and versions.

export const authentication = {
  source: 'spec: Authentication',
  sentences: {
    'auth-none': 'buyer and discovery routes need no credentials',
    'auth-key': 'the merchant key is sent as X-API-Key or api_key; it has a fixed prefix',
    'auth-jwt': 'account and merchant routes take a bearer token',
    'auth-admin': 'operator routes take a superuser’s bearer token only',
    'auth-oauth2': 'the described scheme is OAuth 2.0 password flow at login/access-token',
    'auth-password-custom-only': 'provider mail and numeric ids do not sign in by password',
  },
} as const;

export const events = {
  source: 'spec: Events',
  sentences: {
    'event-webhook-on-confirm': 'a confirmed payment is posted to the merchant’s webhook_url',
    'event-webhook-status': 'the outcome is webhook_status of the income record',
    'event-no-retry': 'a webhook is not retried',
  },
} as const;

export const errors = {
  source: 'spec: Errors',
  sentences: {
    'error-402-check': 'check below the limit is 402',
    'error-403-simulate': 'simulate without demo mode is 403',
    'error-404-foreign': 'another owner’s invoice is 404',
    'error-422-shape': '422 is {detail: [{loc, msg, type, input, ctx}]}; loc, msg and type are always there',
    'error-creation': 'refused creation of payments is 400, 401 or 403',
    'error-success-200': 'success is 200 everywhere but 201 of test-email',
  },
} as const;

export const limits = {
  source: 'spec: Limits',
  sentences: {
    'limit-units': 'a merchant has at most 3 units',
    'limit-wait-seconds': 'wait_seconds is clamped to 300 to 86400 on create and update',
    'limit-multiplier': 'the refill credit multiplier is 100, for refills and admin credits',
    'limit-fee-rate': 'the platform fee rate is 0.01',
    'limit-income-page': 'income limit is 1 to 200, 20 by default',
    'limit-admin-payments-page': 'admin payments limit is 1 to 200, 50 by default',
    'limit-users-page': 'users skip is 0 and limit 100 by default',
    'limit-passwords': 'passwords have 8 to 128 characters',
    'limit-names': 'email and full_name have at most 255 characters',
    'limit-unit-texts':
      'unit title 1 to 128, description to 512, language to 8, price above 0, 1+ currencies',
    'limit-wallet-address': 'a wallet address has 8 to 256 characters, an operator’s 0 to 256',
    'limit-credit': 'prepaid_usd is above 0 and at most 1000; its note has at most 255 characters',
    'limit-sign-in-fields': 'id_token has 20+, the messaging hash 16+ characters',
  },
} as const;

export const versioning = {
  source: 'spec: Versioning',
  sentences: {
    'version-api': 'the API description is version 0.1.0',
    'version-prefixes': 'routes begin /api/v1 or /v1; a few surfaces are unversioned',
  },
} as const;
