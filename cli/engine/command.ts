// What a command is, and what it is given when it runs.
import type { AnyInput, CallOptions, CallReply, ClientCall } from '../../src/api/client/call.ts';
import type { Endpoint } from '../../src/api/describe/endpoint.ts';
import type { Io } from '../output/io.ts';
import type { View } from '../output/view.ts';
import type { Flag } from './flag.ts';
import type { GlobalValues } from './globals.ts';
import type { Settings } from './profile.ts';

/** Fields of an endpoint by place, as they will be sent. */
export interface Input {
  params: Record<string, unknown>;
  query: Record<string, unknown>;
  body: Record<string, unknown>;
}

/** The command's own flags and positional values, by field. */
export type Own = Readonly<Record<string, unknown>>;

/** Everything a running command is given. */
export interface Context {
  io: Io;
  /** All commands. */
  registry: Registry;
  /** What was given with the flags that commands have in common. */
  globals: GlobalValues;
  /** Longest wait for one answer. */
  timeout_ms: number;
  /** Opens the profiles when first called. */
  settings(): Promise<Settings>;
  /**
   * Reads flags, file, environment, then asks. Read once, returned again. The service checks what belongs to the endpoint;
   * here that is done before a question, before values are only shown, before a stream, and where a call failed.
   */
  input(): Promise<{ input: Input; own: Own }>;
  /** Calls with the credentials of the settings, the timeout and an idempotency key. */
  call: ClientCall;
  /** Calls with a credential that is not stored yet; its headers carry it. */
  callAs<E extends Endpoint>(endpoint: E, options: CallOptions, input?: AnyInput): Promise<CallReply<E>>;
  /** Aborted when the process is asked to end. */
  signal: AbortSignal;
  callOptions(endpoint: Endpoint): CallOptions;
  /** This command line with an idempotency key, to be asked again. */
  commandWith(key: string): string;
  /** Asks before something is destroyed; refuses without a person and without `--yes`. `type` is the word to type. */
  confirm(question: string, type?: string): Promise<void>;
  /** Prints what would be sent, and nothing is. */
  showRequest(endpoint: Endpoint, input: Input): Promise<void>;
}

export interface Command {
  /** The endpoints it calls. */
  endpoints: readonly Endpoint[];
  /** The one whose fields are its flags. */
  input?: Endpoint;
  /** Fields that may also stand without their flag, in this order. */
  args?: readonly string[];
  /** Its own flags, beyond those of the endpoint. */
  flags?: readonly Flag[];
  /** Required fields for which another one may be given: `{ amount: 'amount_usd' }`. */
  instead?: Readonly<Record<string, string>>;
  /** Markdown; the endpoint's description by default. */
  about?: string;
  /** What `--file` holds, where that is no endpoint's body: the command reads it. */
  file?: string;
  /** Whole command lines, the first for people, at least one with `--json` where it answers data. */
  examples: readonly string[];
  /** Whether it may change something though no endpoint's method says so: it takes `--dry-run`. */
  writes?: boolean;
  /** Whether a profile of a name that none has is made; every other command refuses it. */
  makes_profile?: boolean;
  /** Prints a line of JSON for each thing that happens. */
  stream?: boolean;
  /** Members that `--json a,b` can name, where no endpoint's reply says them. */
  fields?: readonly string[];
  view?: View;
  run(context: Context): Promise<void>;
}

/** A command in the list; loaded when it is run. */
export interface CommandEntry {
  /** Words after `gw`. */
  path: string;
  summary: string;
  /** The id of the endpoint that is called by this name. */
  endpoint?: string;
  load(): Promise<Command>;
}

/** What a noun is about; `lists`: the noun alone lists. */
export interface Group {
  summary: string;
  lists?: true;
}

/** All commands, in the order people read them. */
export interface Registry {
  entries: readonly CommandEntry[];
  groups: Readonly<Record<string, Group>>;
  /** Plurals and short ways, to their full form. */
  aliases: Readonly<Record<string, string>>;
}
