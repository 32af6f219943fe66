// `gw api`: any call by method and path, with the credentials of the profile.
import type { IncomingHttpHeaders } from 'node:http';
import type { Command, Context, Own } from '../engine/command.ts';
import { NetworkError, toGwError, unreachable, usage } from '../engine/errors.ts';
import { warnOfIgnored } from '../engine/ignored.ts';
import { timeoutAfter } from '../engine/timeout.ts';
import { fetchService } from '../engine/transport.ts';
import { type Io, print, printJson, readStdin, say } from '../output/io.ts';
import { cleanLines } from '../output/text.ts';
import { pick } from '../output/view.ts';

/** The service takes no body with these. */
const BODYLESS = new Set(['GET', 'HEAD']);
/** What forms of the checkout answer. */
const SEE_OTHER = 303;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

export const command: Command = {
  endpoints: [],
  args: ['method', 'path'],
  flags: [
    { field: 'method', name: 'method', place: 'own', kind: 'text', required: true, help: METHODS.join(', ') },
    {
      field: 'path',
      name: 'path',
      place: 'own',
      kind: 'text',
      required: true,
      help: 'path with query, e.g. /v1/gateways',
    },
    {
      field: 'field',
      name: 'field',
      place: 'own',
      kind: 'list',
      value: 'name=value',
      help: 'a member of the body; := for JSON values (repeatable)',
    },
    {
      field: 'input',
      name: 'body',
      place: 'own',
      kind: 'text',
      value: 'json',
      help: 'the whole body; - reads stdin',
    },
    {
      field: 'header',
      name: 'header',
      place: 'own',
      kind: 'list',
      value: 'name: value',
      help: 'an additional header (repeatable)',
    },
    {
      field: 'include',
      name: 'include',
      place: 'own',
      kind: 'boolean',
      help: 'print status and headers too',
    },
  ],
  about:
    'Sends the key as X-API-Key and the token as Bearer, where they are known. The reply is printed as it is; a refusal goes to stderr, with the exit code of its status.',
  examples: [
    'gw api GET /v1/gateways',
    'gw api POST /v1/invoices --field chain=ton --field amount:=12.5 --json id',
    'gw api GET "/v1/invoices?status=created&limit=5"',
  ],
  writes: true,
  async run(context) {
    const { own } = await context.input();
    const { io } = context;
    const request = await requestOf(own, io);
    if (context.globals.isOn('dry-run')) return showCall(context, request);
    const { status, fields, text } = await send(
      context,
      request,
      headersOf(own.header as string[] | undefined),
    );
    if (own.include === true) {
      print(io, `HTTP ${status}`);
      for (const [name, value] of Object.entries(fields)) print(io, cleanLines(`${name}: ${value}`));
      print(io, '');
    }
    const value = parsed(text);
    if (value !== undefined && io.json !== false)
      return printJson(io, io.json === true ? value : pick(value, io.json));
    if (value !== undefined && io.stdout.isTTY) return printJson(io, value);
    if (text !== '') print(io, io.stdout.isTTY ? cleanLines(text) : text);
  },
};

interface Request {
  method: string;
  path: string;
  body: string | undefined;
}

/** What the command line says to send; refuses what cannot be sent. */
async function requestOf(own: Own, io: Io): Promise<Request> {
  const method = String(own.method).toUpperCase();
  const path = String(own.path);
  if (!METHODS.includes(method)) throw usage(`${method} is not a method: ${METHODS.join(', ')}`);
  if (!path.startsWith('/')) throw usage('the path begins with /, e.g. /v1/gateways');
  const body = await bodyOf(own, io);
  if (body !== undefined && BODYLESS.has(method))
    throw usage(`${method} has no body`, 'put the values into the query: /v1/invoices?status=created');
  return { method, path, body };
}

async function showCall(context: Context, { method, path, body }: Request): Promise<void> {
  const { url } = await context.settings();
  if (context.io.json === false) say(context.io, 'Not sent, because of --dry-run:');
  const shown = body === undefined ? {} : { body: parsed(body) ?? body };
  printJson(context.io, { dry_run: true, method, url: `${url}${path}`, ...shown });
}

async function send(
  context: Context,
  { method, path, body }: Request,
  more: Record<string, string>,
): Promise<{ status: number; fields: IncomingHttpHeaders; text: string }> {
  const { timeout_ms, signal } = context;
  const settings = await context.settings();
  const key = settings.credential('api_key');
  const token = settings.credential('token');
  try {
    const response = await fetchService(`${settings.url}${path}`, {
      method,
      headers: {
        ...(key ? { 'x-api-key': key } : {}),
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...more,
      },
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.any([signal, timeoutAfter(timeout_ms)]),
    });
    const text = await response.text();
    warnOfIgnored(context.io, response);
    if (response.ok || response.status === SEE_OTHER)
      return { status: response.status, fields: response.fields, text };
    const { ApiError } = await import('../../src/api/client/call.ts');
    const refusal = parsed(text);
    const members =
      typeof refusal === 'object' && refusal !== null ? (refusal as Record<string, unknown>) : {};
    throw new ApiError(response.status, members, response.headers);
  } catch (error) {
    throw toGwError(error) ?? (error instanceof NetworkError ? unreachable(settings.url, error) : error);
  }
}

function headersOf(given: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    given.map((line) => {
      const at = line.indexOf(':');
      if (at < 1) throw usage(`--header takes “name: value”, not “${line}”`);
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}

async function bodyOf(own: Own, io: Io): Promise<string | undefined> {
  if (own.input !== undefined) return own.input === '-' ? readStdin(io) : String(own.input);
  const fields = own.field as string[] | undefined;
  if (!fields) return undefined;
  const members = fields.map((text): [string, unknown] => {
    const match = /^([^=:]+)(:?=)(.*)$/s.exec(text);
    if (!match) throw usage(`--field takes name=value or name:=json, not “${text}”`);
    const [, name = '', sign, value = ''] = match;
    if (sign === '=') return [name, value];
    const json = parsed(value);
    if (json === undefined) throw usage(`--field ${name}:= takes JSON, not “${value}”`);
    return [name, json];
  });
  return JSON.stringify(Object.fromEntries(members));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
