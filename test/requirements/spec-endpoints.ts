// What spec.md promises of each endpoint: one requirement for every row of its tables.

export const signIn = {
  source: 'spec: Endpoints, Sign-in and account',
  sentences: {
    'get-identity-source':
      'GET login/identity-source tells by shape where an identity signs in; q of 1+ characters',
    'post-access-token': 'POST login/access-token takes the password form and answers a Token',
    'post-access-token-grant':
      'grant_type is optional and only password; scope, client_id, client_secret are taken',
    'post-login-google': 'POST login/google takes an id_token of 20+ characters and answers a Token',
    'post-login-telegram': 'POST login/telegram takes the widget’s fields and answers a Token',
    'post-test-token': 'POST login/test-token answers the token’s user',
    'post-password-recovery': 'POST password-recovery/{email} answers a Message and sends a mail',
    'post-reset-password': 'POST reset-password/ sets a new password by token',
    'post-recovery-html': 'POST password-recovery-html-content/{email} answers the mail’s HTML',
    'post-signup': 'POST users/signup makes a user with custom mail and password only',
    'get-users': 'GET users/ lists users by skip and limit',
    'post-users': 'POST users/ makes a user with is_active and is_superuser',
    'get-me': 'GET users/me answers oneself',
    'patch-me': 'PATCH users/me changes full_name and email, both optional and nullable',
    'delete-me': 'DELETE users/me deletes oneself',
    'patch-my-password': 'PATCH users/me/password changes the password with the current one',
    'get-user': 'GET users/{user_id} answers a user',
    'patch-user': 'PATCH users/{user_id} changes what is sent',
    'delete-user': 'DELETE users/{user_id} deletes a user',
    'post-test-email': 'POST utils/test-email/ sends a mail and answers 201',
    'get-health-check': 'GET utils/health-check/ answers true',
    'get-health': 'GET /health answers the message ok',
  },
} as const;

export const merchant = {
  source: 'spec: Endpoints, Merchant API',
  sentences: {
    'get-account': 'GET merchant/account answers the account with its key',
    'patch-account': 'PATCH merchant/account changes webhook_url, webhook_secret, enabled_currencies, slug',
    'get-balances': 'GET merchant/balances answers an array of balances',
    'get-merchant-refill-wallets': 'GET merchant/refill-wallets answers the platform’s refill addresses',
    'get-wallets': 'GET merchant/wallets answers the wallets and what is still missing',
    'put-wallets': 'PUT merchant/wallets stores one address per blockchain and answers the entry',
    'get-payment-page': 'GET merchant/payment-page shows the merchant’s page',
    'post-refill': 'POST merchant/refill answers a refill invoice; amount_unit is usd by default',
    'get-income': 'GET merchant/income pages by skip and limit and filters by UTC days, both inclusive',
    'get-embed-preview': 'GET merchant/embed-preview answers embed snippets and their explanation',
    'get-units': 'GET merchant/units lists the units',
    'post-units': 'POST merchant/units makes a unit with page and embed URLs',
    'patch-unit': 'PATCH merchant/units/{unit_id} changes what is sent, active included',
    'delete-unit': 'DELETE merchant/units/{unit_id} deletes the unit',
  },
} as const;

export const invoices = {
  source: 'spec: Endpoints, Invoices and payments',
  sentences: {
    'post-invoices': 'POST /v1/invoices makes an invoice at the key’s merchant, wallet, limit and webhook',
    'post-invoices-amount': 'amount is a number or decimal string above 0, in usd (default) or native',
    'post-invoices-platform-key': 'the platform key makes invoices to the deployment’s wallets',
    'get-invoice': 'GET /v1/invoices/{id} answers the invoice; another owner’s is 404',
    'post-check': 'POST /v1/invoices/{id}/check polls the chain once and answers the invoice, or 402',
    'post-simulate': 'POST /v1/invoices/{id}/simulate settles; 403 when demo mode is off',
  },
} as const;

export const buyer = {
  source: 'spec: Endpoints, Public buyer endpoints',
  sentences: {
    'get-gateways': 'GET /v1/gateways answers GatewaysResponse',
    'get-config-public':
      'GET /v1/config/public is flat: network, demo mode, fees, fiat, memo length, base URL, max units, social logins',
    'get-public-invoice': 'GET /v1/public/invoices/{id} answers the invoice to anybody',
    'post-cancel': 'POST /v1/invoices/{id}/cancel answers the cancelled invoice to anybody',
    'get-payment': 'GET /v1/invoices/{id}/payment answers {payment, logs}',
    'get-exits': 'GET /v1/exits/{id}/web and /tg answer the wallet links',
    'get-unit': 'GET /v1/units/{id} answers the unit to anybody',
    'post-checkout':
      'POST /v1/units/{id}/checkout makes an invoice of the unit’s price, owner, wait and webhook',
  },
} as const;

export const checkout = {
  source: 'spec: Endpoints, Checkout surfaces and assets',
  sentences: {
    'page-size': 'size is one of nine words, desktop by default on pay pages; width is 180 to 1200',
    'get-pay-page': '/v1/pay/{id}/page is a full checkout page with QR and copyable fields',
    'get-pay-div': '/v1/pay/{id}/div is a fragment with Access-Control-Allow-Origin: *',
    'get-qr-svg': '/v1/pay/{id}/qr.svg is the QR of qr_payload',
    'get-qr-png': '/v1/pay/{id}/qr.png has 392 × 392 pixels and the same payload',
    'get-pay': '/pay/{id} is a checkout rendered by the server',
    'get-unit-page': '/v1/units/{id}/page is a chooser page, size site by default',
    'get-unit-div':
      '/v1/units/{id}/div is a fragment with Access-Control-Allow-Origin: *, size mobile by default',
    'get-pretty-unit': '/u/{merchant_slug}/{unit_slug} is the unit’s page',
    'get-embed-js': '/embed.js mounts a checkout where its script tag says',
    'embed-attributes': 'data-unit or data-invoice, data-size and data-target steer the embed',
    'get-images': '/logo.png and /favicon-32.png are images',
  },
} as const;

export const discovery = {
  source: 'spec: Endpoints, Discovery',
  sentences: {
    'get-catalog': '/v1/catalog filters by kind, as JSON or markdown, brief or with docs',
    'get-catalog-hidden': 'operator-only entries appear only with include_hidden',
    'get-search': '/v1/search answers {query, count, results} with id, kind, title, score, snippet, call',
    'get-search-limit': 'search limit is 1 to 50, 8 by default',
    'get-agent-json': '/.well-known/agent.json is a JSON manifest',
    'get-texts': '/llms.txt, /llms-full.txt, /robots.txt and /sitemap.xml are served',
    'get-openapi': '/api/v1/openapi.json is an OpenAPI 3.1 document',
    'get-docs': '/docs is Swagger UI and /redoc is ReDoc',
    'discovery-open': 'discovery needs no credentials',
  },
} as const;

export const operator = {
  source: 'spec: Endpoints, Operator API',
  sentences: {
    'get-dashboard': 'GET admin/dashboard shows the deployment',
    'get-merchants': 'GET admin/merchants lists merchants',
    'get-merchant': 'GET admin/merchants/{user_id} shows one',
    'post-credit': 'POST admin/merchants/{user_id}/credit credits as a refill does and logs at warning level',
    'get-admin-refill-wallets': 'GET admin/refill-wallets shows the deployment’s wallets',
    'put-admin-refill-wallets': 'PUT admin/refill-wallets sets one',
    'get-observers': 'GET admin/observers shows the observers',
    'get-payments': 'GET admin/payments filters by status, kind, chain, owner_id in pages',
    'get-admin-payment': 'GET admin/payments/{invoice_id} shows one',
    'post-resolve': 'POST admin/payments/{invoice_id}/resolve acts, with a txid of at most 128 characters',
  },
} as const;
