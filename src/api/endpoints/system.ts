// Whether the service lives, and its test mail.
import { z } from 'zod';
import { endpoint } from '../describe/endpoint.ts';
import { email } from '../describe/identifiers.ts';
import { Message } from '../schemas/resources.ts';
import { Readiness } from '../schemas/system.ts';

export const getHealth = endpoint({
  id: 'getHealth',
  method: 'GET',
  path: '/health',
  auth: 'none',
  tag: 'system',
  summary: 'Check whether the daemon answers',
  gw: 'system health',
  effect: 'read',
  keywords: 'health, service up',
  description:
    'Returns `ok` as long as the daemon accepts requests and its database can be read and takes writes, which the daemon tries every few seconds on its own; 503 `draining` while it is being stopped, 503 `schema_newer` where it has to be upgraded before it may continue.',
  response: Message,
  errors: ['database_busy', 'schema_newer', 'draining'],
  cors: true,
  example: {},
});

export const healthCheck = endpoint({
  id: 'healthCheck',
  method: 'GET',
  path: '/api/v1/utils/health-check/',
  auth: 'none',
  tag: 'system',
  summary: 'Check whether the daemon answers, as a boolean',
  gw: 'system check',
  effect: 'read',
  keywords: 'health check boolean',
  description: 'Returns `true`. The same check as `/health`, for clients that expect a boolean.',
  response: z.boolean(),
  errors: ['database_busy', 'schema_newer', 'draining'],
  example: {},
});

export const getLiveness = endpoint({
  id: 'getLiveness',
  method: 'GET',
  path: '/livez',
  auth: 'none',
  tag: 'system',
  summary: 'Check whether the process answers',
  gw: 'system live',
  effect: 'read',
  keywords: 'liveness probe',
  description:
    'Returns `ok` as long as the process answers, whatever its database and its blockchains do: a supervisor restarts a daemon that does not. It asks nothing of the database.',
  response: Message,
  extension: true,
  example: {},
});

export const getReadiness = endpoint({
  id: 'getReadiness',
  method: 'GET',
  path: '/readyz',
  auth: 'none',
  tag: 'system',
  summary: 'Check whether the daemon should be sent requests, and which blockchains it sees',
  gw: 'system ready',
  effect: 'read',
  keywords: 'readiness probe, load balancer check, blind chain, lag',
  description:
    'For load balancers and monitors: database, schema, draining, and each blockchain with its lag. 503 `not_ready` where the database cannot be read within 3 s, takes no writes (the daemon tries a small one every few seconds on its own, however often it is asked) or its schema is older than this daemon, 503 `schema_newer` where a newer daemon has changed the schema in a way that this one cannot continue on, 503 `draining` while the daemon is drained or stopped; the same members are in these answers. A blockchain that cannot be read is shown (`blind`) and leaves the daemon ready: it is so for every daemon, and all else works. Alert on `blockchains[].status`.',
  response: Readiness,
  errors: ['not_ready', 'schema_newer', 'draining'],
  extension: true,
  example: {},
});

export const testEmail = endpoint({
  id: 'testEmail',
  method: 'POST',
  path: '/api/v1/utils/test-email/',
  auth: 'admin',
  tag: 'system',
  summary: 'Send a test mail',
  gw: 'admin test-email {email_to}',
  effect: 'write',
  keywords: 'test mail',
  description:
    'Sends a short mail to `email_to` through the configured mail server. Without a mail server the mail is written to a file in `outbox` of the data directory; the log names it.',
  query: { email_to: email().describe('Where to send it') },
  response: Message,
  status: 201,
  errors: ['mail_failed'],
  hidden: true,
  example: { query: { email_to: 'operator@example.com' } },
});

export const system = [getHealth, healthCheck, getLiveness, getReadiness, testEmail] as const;
