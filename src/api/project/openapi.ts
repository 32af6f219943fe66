// The OpenAPI 3.1 document, made from the list of endpoints and nothing else.
import { z } from 'zod';
import { type ErrorCode, errorCodes } from '../../errors.ts';
import type { Auth, Endpoint, Fields, Tag } from '../describe/endpoint.ts';
import { isOptional, type JsonSchema, jsonSchema } from '../describe/json-schema.ts';
import { isValidated, refusalsOf } from '../describe/refusals.ts';
import { api } from '../endpoints/api.ts';
import { parseInput } from '../read/validation.ts';
import { ErrorBody, HTTPValidationError, LimitExhausted } from '../schemas/error.ts';
import { WebhookBody } from '../schemas/event.ts';

/**
 * Version of the interface: what the wire shows as `version`. The package has its own, in package.json; this one changes
 * when callers must know.
 */
export const API_VERSION = '0.1.0';
const MAX_IDEMPOTENCY_KEY = 255;
const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

export interface OpenApi {
  openapi: string;
  info: Record<string, unknown>;
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, unknown>;
  components: { schemas: Record<string, JsonSchema>; securitySchemes: Record<string, unknown> };
}

export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required: true; content: Record<string, unknown> };
  responses: Record<string, unknown>;
  'x-extension'?: true;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: JsonSchema;
  example?: unknown;
}

const tags: Record<Tag, string> = {
  invoices: 'Create, read, check and simulate invoices with a merchant key.',
  buyer: 'What buyers call, without credentials.',
  units: 'Offers of a merchant.',
  merchant: 'Account, wallets, prepaid limit, income and events of a merchant.',
  login: 'Sign-in and lost passwords.',
  users: 'Users.',
  checkout: 'Pages, fragments and images for buyers.',
  discovery: 'What there is, for people and programs.',
  admin: 'For the operator.',
  system: 'Health and mail.',
};

const security: Record<Auth, Record<string, string[]>[]> = {
  none: [],
  key: [{ APIKeyHeader: [] }, { APIKeyQuery: [] }],
  jwt: [{ OAuth2PasswordBearer: [] }],
  admin: [{ OAuth2PasswordBearer: [] }],
  any: [{ OAuth2PasswordBearer: [] }, { APIKeyHeader: [] }, { APIKeyQuery: [] }],
};

const securitySchemes = {
  OAuth2PasswordBearer: {
    type: 'oauth2',
    flows: { password: { scopes: {}, tokenUrl: '/api/v1/login/access-token' } },
  },
  APIKeyHeader: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'Merchant key or platform key',
  },
  APIKeyQuery: {
    type: 'apiKey',
    in: 'query',
    name: 'api_key',
    description: 'The same key; prefer the header, which stays out of histories',
  },
};

const DESCRIPTION = `Non-custodial crypto payment gateway. Buyers pay straight into the merchant's own wallets; the service observes the chain, confirms, posts a webhook and debits a prepaid balance.

Amounts are decimal strings without exponent; times are Unix seconds, UTC. A refusal is \`{detail, code, request_id}\`: switch on \`code\`. Input that does not fit is answered with 422 and all errors at once. Operations with \`x-extension\` go beyond the interface specification.`;

const reference = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** Moves references from `$defs`, where zod puts named shapes, to the components. */
const rehomed = <T>(value: T): T =>
  JSON.parse(JSON.stringify(value).replaceAll('"#/$defs/', '"#/components/schemas/'));

/** Bodies and replies of all endpoints, converted at once so that each named shape is described once. */
function convert(list: readonly Endpoint[]): {
  schemas: Record<string, JsonSchema>;
  body: (endpoint: Endpoint) => JsonSchema;
  response: (endpoint: Endpoint) => JsonSchema;
} {
  const members: Record<string, z.ZodType> = { ErrorBody, HTTPValidationError, LimitExhausted, WebhookBody };
  for (const endpoint of list) {
    if (endpoint.body) members[`body of ${endpoint.id}`] = endpoint.body;
    if (endpoint.response instanceof z.ZodType) members[`response of ${endpoint.id}`] = endpoint.response;
  }
  const { $defs = {}, properties = {} } = rehomed(jsonSchema(z.object(members)));
  const found = properties as Record<string, JsonSchema>;
  return {
    schemas: $defs as Record<string, JsonSchema>,
    body: (endpoint) => found[`body of ${endpoint.id}`] ?? {},
    response: (endpoint) => found[`response of ${endpoint.id}`] ?? {},
  };
}

/** An example as its schema has it; on the wire all are text. */
function typed(example: string, schema: JsonSchema): unknown {
  const types = [schema, ...((schema.anyOf ?? []) as JsonSchema[])].map(({ type }) => type);
  return types.includes('integer') || types.includes('boolean') ? JSON.parse(example) : example;
}

/** The body of the example, where it is valid before its braces are filled in. */
function bodyExample(endpoint: Endpoint): Record<string, unknown> | undefined {
  const body = endpoint.example?.body;
  if (!body || !JSON.stringify(body).includes('{')) return body;
  const parsed = parseInput(endpoint, { params: {}, query: {}, body });
  return parsed.ok || parsed.detail.every(({ loc }) => loc[0] !== 'body') ? body : undefined;
}

function parametersOf(endpoint: Endpoint): Parameter[] {
  const place = (fields: Fields | undefined, where: 'path' | 'query'): Parameter[] =>
    Object.entries(fields ?? {}).map(([name, field]) => {
      const { description, ...schema } = jsonSchema(field);
      const example = (where === 'path' ? endpoint.example?.params : endpoint.example?.query)?.[name];
      return {
        name,
        in: where,
        required: where === 'path' || !isOptional(field),
        ...(typeof description === 'string' ? { description } : {}),
        schema,
        // Braces stand for values of the reader's own world.
        ...(example !== undefined && !example.includes('{') ? { example: typed(example, schema) } : {}),
      };
    });
  const idempotency: Parameter = {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'Makes a repetition safe: the same key and body get the first answer again, for 24 hours',
    schema: { type: 'string', minLength: 1, maxLength: MAX_IDEMPOTENCY_KEY },
  };
  return [
    ...place(endpoint.params, 'path'),
    ...place(endpoint.query, 'query'),
    ...(endpoint.idempotent ? [idempotency] : []),
  ];
}

/** The reply that was asked for. */
function successOf(endpoint: Endpoint, schema: JsonSchema): Record<string, unknown> {
  if (endpoint.status === 303)
    return { description: 'Leads to another page', headers: { Location: { schema: { type: 'string' } } } };
  const text = { schema: { type: 'string' } };
  const content: Record<string, unknown> = {};
  if (endpoint.response instanceof z.ZodType) content[JSON_TYPE] = { schema };
  // Bytes have no schema in OpenAPI 3.1.
  else content[endpoint.response.media] = endpoint.response.media === 'image/png' ? {} : text;
  for (const type of endpoint.also ?? []) content[type] = text;
  return { description: 'Successful response', content };
}

const PAGE = { 'text/html': { schema: { type: 'string' } } };

/** Whether refusals come as a page to a caller that accepts HTML. */
const isPage = ({ tag, response }: Endpoint): boolean =>
  tag === 'checkout' && 'media' in response && response.media === 'text/html';

const isSlow = (status: number): boolean => status === 429 || status === 503;

/** Refusals by status, each with its codes. */
function refusalResponses(endpoint: Endpoint): Record<string, unknown> {
  const byStatus = new Map<number, ErrorCode[]>();
  // A body that is announced too large is refused wherever it is sent.
  for (const code of new Set<ErrorCode>([...refusalsOf(endpoint), 'body_too_large'])) {
    const { status } = errorCodes[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const refusals = [...byStatus].map(([status, codes]): [string, unknown] => [
    String(status),
    {
      description: codes.map((code) => `\`${code}\`: ${errorCodes[code].detail}`).join('\n\n'),
      ...(isSlow(status) ? { headers: { 'Retry-After': { schema: { type: 'integer' } } } } : {}),
      content: {
        [JSON_TYPE]: {
          schema: reference(status === 402 && endpoint.auth !== 'none' ? 'LimitExhausted' : 'ErrorBody'),
        },
        ...(isPage(endpoint) ? PAGE : {}),
      },
      'x-codes': codes,
    },
  ]);
  const responses = Object.fromEntries(refusals);
  if (!isValidated(endpoint)) return responses;
  const codes = byStatus.get(422);
  const invalid = reference('HTTPValidationError');
  responses['422'] = {
    description: 'Validation error',
    content: {
      [JSON_TYPE]: { schema: codes ? { anyOf: [invalid, reference('ErrorBody')] } : invalid },
      ...(isPage(endpoint) && endpoint.method === 'POST' ? PAGE : {}),
    },
    ...(codes ? { 'x-codes': codes } : {}),
  };
  return responses;
}

function operationOf(endpoint: Endpoint, body: JsonSchema, response: JsonSchema): Operation {
  const parameters = parametersOf(endpoint);
  const type = endpoint.encoding === 'form' ? FORM_TYPE : JSON_TYPE;
  const example = bodyExample(endpoint);
  return {
    operationId: endpoint.id,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    description: endpoint.description,
    security: security[endpoint.auth],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(endpoint.body
      ? {
          requestBody: {
            required: true,
            content: { [type]: { schema: body, ...(example ? { example } : {}) } },
          },
        }
      : {}),
    responses: {
      [String(endpoint.status ?? 200)]: successOf(endpoint, response),
      ...(endpoint.etag
        ? { '304': { description: 'Unchanged since the `ETag` that `If-None-Match` names' } }
        : {}),
      ...refusalResponses(endpoint),
      default: {
        description: 'Any other refusal: a limit of the transport, a busy database, a restart',
        content: { [JSON_TYPE]: { schema: reference('ErrorBody') } },
      },
    },
    ...(endpoint.extension ? { 'x-extension': true } : {}),
  };
}

const signature = (name: string, description: string): Parameter => ({
  name,
  in: 'header',
  required: name !== 'webhook-signature',
  description,
  schema: { type: 'string' },
});

const webhooks = {
  'invoice.confirmed': {
    post: {
      operationId: 'invoiceConfirmed',
      tags: ['merchant'],
      summary: 'An invoice was confirmed',
      description:
        'Posted once, without retry, to the `callback_url` of the invoice or the `webhook_url` of the account. Refills only where the account sets `webhook_refills`. Any 2xx within 15 seconds is success.',
      parameters: [
        signature('webhook-id', 'The event; the same when it is sent again'),
        signature('webhook-timestamp', 'Unix seconds'),
        signature(
          'webhook-signature',
          '`v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`, where a secret is set; two with a space between for 24 hours after it was changed',
        ),
      ],
      requestBody: { required: true, content: { [JSON_TYPE]: { schema: reference('WebhookBody') } } },
      responses: { '2XX': { description: 'Received' } },
      security: [],
    },
  },
};

/** The document for a deployment at `base_url` (no slash at its end). */
export function openapi({ base_url }: { base_url: string }): OpenApi {
  const { schemas, body, response } = convert(api);
  const paths: OpenApi['paths'] = {};
  for (const endpoint of api) {
    const operation = operationOf(endpoint, body(endpoint), response(endpoint));
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method.toLowerCase()]: operation };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'gatewayd',
      version: API_VERSION,
      description: DESCRIPTION,
      contact: { name: 'The operator of this deployment', url: base_url },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: base_url }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    webhooks,
    components: { schemas, securitySchemes },
  };
}
