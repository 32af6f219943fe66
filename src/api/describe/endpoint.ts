// What an endpoint is: one value from which route, types, documents, client, flags and tests are projected.
import type { z } from 'zod';
import type { ErrorCode } from '../../errors.ts';

/**
 * Who may call: anyone, a merchant or platform key, a signed-in user, a superuser; `any`: a key or a signed-in user, each
 * with his own rights.
 */
export type Auth = 'none' | 'key' | 'jwt' | 'admin' | 'any';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The part of the documents an endpoint stands in; also the noun of its command. */
export type Tag =
  | 'system'
  | 'login'
  | 'users'
  | 'merchant'
  | 'units'
  | 'invoices'
  | 'buyer'
  | 'checkout'
  | 'discovery'
  | 'admin';

/** The names in braces of a path: `/v1/invoices/{invoice_id}` has `invoice_id`. */
export type PathNames<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathNames<Rest>
  : never;

/** Fields by name; each accepts what the wire carries (strings in paths and queries) and yields the parsed value. */
export type Fields = Readonly<Record<string, z.ZodType>>;

/** A reply that is not JSON. */
export interface Media<T extends string = string> {
  media: T;
}
export const media = <const T extends string>(type: T): Media<T> => ({ media: type });

/** What a handler returns for a non-JSON reply; `headers` are added to the defaults. */
export interface Raw {
  body: string | Uint8Array | ReadableStream;
  headers?: Record<string, string>;
  status?: number;
  /** Whether it may be given again to who asks for the same with the same preferences; asks without waiting. Absent: never. */
  again?: (() => boolean) | undefined;
}

/** What a call does to what is stored: reads it, adds to it or changes it, or takes something away for good. */
export type Effect = 'read' | 'write' | 'destroy';

/** What a person is asked before the call is made. Names of fields in braces stand for their values. */
export interface Confirm {
  question: string;
  /** What must be typed to agree; without it a yes is enough. */
  type?: string;
  /** Asked only where these fields have these values. */
  when?: Readonly<Record<string, unknown>>;
  /** Not asked where these fields have these values. */
  unless?: Readonly<Record<string, unknown>>;
}

/** A worked call, executed against a running daemon in the tests. Values in `{braces}` come from the test's world. */
export interface Example {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: Record<string, unknown>;
}

type ParamsOf<P extends string> = [PathNames<P>] extends [never]
  ? { params?: undefined }
  : { params: { readonly [Name in PathNames<P>]: z.ZodType } };

interface Definition<
  Id extends string,
  P extends string,
  A extends Auth,
  Query extends Fields,
  Body extends z.ZodType | undefined,
  Response extends z.ZodType | Media,
> {
  /** operationId, camelCase, unique. */
  id: Id;
  method: Method;
  /** With parameters in braces; as the specification writes it, trailing slash included. */
  path: P;
  auth: A;
  tag: Tag;
  /** One line, imperative, no full stop. */
  summary: string;
  /**
   * Its command in `gw`: `invoice get`. Parameters of the path are its positional values; names in braces replace
   * them: `wallet set {blockchain} {address}`. Without it, the call is made with `gw api`.
   */
  gw?: string;
  /** Fields whose flag in `gw` is called otherwise, because the name is taken or says too little. */
  flags?: Readonly<Record<string, string>>;
  effect: Effect;
  /** Made again with the same input it changes nothing more. PUT, PATCH and DELETE always are. */
  repeatable?: true;
  confirm?: Confirm;
  /** What people call it, for search: words that neither summary nor description has. */
  keywords?: string;
  /** A part of other entries: search finds it only for those who ask for exactly it. */
  secondary?: true;
  /** What a caller needs to know beyond the summary: effects, units, limits. Markdown. */
  description: string;
  query?: Query;
  /** A body's schema (an object). */
  body?: Body;
  /** Describes no body, and its handler reads one itself. */
  reads_body?: true;
  /** How the body is sent; `json` by default. */
  encoding?: 'json' | 'form';
  response: Response;
  /** Media types the same call answers instead when it is asked to; its handler then returns a `Streamed`. */
  also?: readonly string[];
  /** 200 by default; 303 leads a browser on to another page. */
  status?: 200 | 201 | 303;
  /** The refusals a caller must expect, beyond validation and those its `auth` implies. */
  errors?: readonly ErrorCode[];
  example?: Example;
  /** Not in the specification: marked in every document. */
  extension?: true;
  /** Creates something: honours `Idempotency-Key`. */
  idempotent?: true;
  /** Not listed unless operator entries are asked for. */
  hidden?: true;
  /** Readable from any origin (`Access-Control-Allow-Origin: *`). */
  cors?: true;
  /** Carries an ETag; a caller who has it is answered with 304. */
  etag?: true;
  /** A limiter of `limits.ts` that counts this call before anything else is done. */
  limit?: 'login' | 'signup' | 'recovery' | 'checkout' | 'claim' | 'compose' | 'explain';
}

export type Endpoint<
  Id extends string = string,
  P extends string = string,
  A extends Auth = Auth,
  Query extends Fields = Fields,
  Body extends z.ZodType | undefined = z.ZodType | undefined,
  Response extends z.ZodType | Media = z.ZodType | Media,
  Params extends Fields | undefined = Fields | undefined,
> = Definition<Id, P, A, Query, Body, Response> & { params?: Params };

/**
 * Describes one endpoint. The compiler checks that `params` names exactly the path's parameters;
 * mounting checks the handler against `params`, `query`, `body`, `response` and `auth`.
 */
export function endpoint<
  const Id extends string,
  const P extends string,
  const A extends Auth,
  // biome-ignore lint/complexity/noBannedTypes: no query means no fields
  Query extends Fields = {},
  Body extends z.ZodType | undefined = undefined,
  Response extends z.ZodType | Media = z.ZodType | Media,
  Params extends ParamsOf<P>['params'] = ParamsOf<P>['params'],
>(
  definition: Definition<Id, P, A, Query, Body, Response> &
    ParamsOf<P> & { params?: Params & { readonly [Name in Exclude<keyof Params, PathNames<P>>]: never } },
): Endpoint<Id, P, A, Query, Body, Response, Params> {
  return definition as Endpoint<Id, P, A, Query, Body, Response, Params>;
}

type OutputOf<F> = F extends Fields ? { -readonly [K in keyof F]: z.output<F[K]> } : Record<never, never>;

type BodyOf<B> = [Exclude<B, undefined>] extends [never]
  ? undefined
  : Exclude<B, undefined> extends z.ZodType
    ? z.output<Exclude<B, undefined>>
    : never;

/** What a handler is given. */
export interface InputOf<E extends Endpoint> {
  params: E extends Endpoint<
    string,
    string,
    Auth,
    Fields,
    z.ZodType | undefined,
    z.ZodType | Media,
    infer Params
  >
    ? OutputOf<Params>
    : never;
  query: E extends Endpoint<string, string, Auth, infer Query> ? OutputOf<Query> : never;
  body: BodyOf<E['body']>;
}

/** What a handler must return. */
export type ReplyOf<E extends Endpoint> = E['response'] extends z.ZodType ? z.input<E['response']> : Raw;
