// What a command is, and the commonest one: a call of one endpoint.
import type { AnyInput, Call, CallOptions, CallReply } from '../src/api/client/call.ts';
import type { Endpoint } from '../src/api/describe/endpoint.ts';
import type { Flag } from './flags.ts';
import type { Io } from './io.ts';
import type { Settings } from './profile.ts';
import type { View } from './view.ts';

/** Fields of an endpoint by place, as they will be sent. */
export interface Input {
  params: Record<string, unknown>;
  query: Record<string, unknown>;
  body: Record<string, unknown>;
}

/** What the command line said besides input. */
export interface GlobalFlags {
  yes: boolean;
  dry_run: boolean;
  verbose: boolean;
  timeout_ms: number;
  idempotency_key: string | undefined;
}

/** Everything a running command is given. */
export interface Context {
  io: Io;
  flags: GlobalFlags;
  /** Opens the profiles when first asked. */
  settings(): Promise<Settings>;
  /** The command's own flags and positional values, by field. */
  own: Record<string, unknown>;
  /** Reads the input of the command's endpoint: flags, file, environment, then questions; validated. */
  input(): Promise<Input>;
  /** Calls with the credentials of the settings, the timeout and an idempotency key. */
  call: Call;
  /** Calls with a credential that is not kept yet; its headers carry it. */
  callAs<E extends Endpoint>(endpoint: E, options: CallOptions, input?: AnyInput): Promise<CallReply<E>>;
  /** Aborted when the process is asked to end. */
  signal: AbortSignal;
  callOptions(endpoint: Endpoint): CallOptions;
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
  /** Changes help or requirement of an endpoint's flags. */
  adjust?: Readonly<Record<string, Partial<Flag>>>;
  /** Markdown; the endpoint's description unless told. */
  about?: string;
  /** Whole command lines, the first for people, at least one with `--json` where it answers data. */
  examples: readonly string[];
  /** Whether it may change something though no endpoint's method says so: it takes `--dry-run`. */
  writes?: boolean;
  /** Prints a line of JSON for each thing that happens. */
  stream?: boolean;
  /** Members that `--json a,b` can name, where no endpoint's reply says them. */
  fields?: readonly string[];
  view?: View;
  run(context: Context): Promise<void>;
}

export interface CallOptionsOf {
  args?: readonly string[];
  flags?: readonly Flag[];
  adjust?: Command['adjust'];
  examples: readonly string[];
  view?: View;
  about?: string;
  /** The question before it is done; undefined where none is needed. `type` must be typed by a person. */
  destroys?: (input: Input) => { question: string; type?: string } | undefined;
  /** After the reply was printed: keeps a new key, says what comes next. */
  after?: (reply: never, context: Context, input: Input) => Promise<void> | void;
}

/** A command that calls `endpoint` with its flags and prints the reply. */
export function callCommand(endpoint: Endpoint, options: CallOptionsOf): Command {
  return {
    endpoints: [endpoint],
    input: endpoint,
    ...(options.args ? { args: options.args } : {}),
    ...(options.flags ? { flags: options.flags } : {}),
    ...(options.adjust ? { adjust: options.adjust } : {}),
    ...(options.about ? { about: options.about } : {}),
    ...(options.view ? { view: options.view } : {}),
    examples: options.examples,
    async run(context) {
      const input = await context.input();
      if (context.flags.dry_run) return context.showRequest(endpoint, input);
      const danger = options.destroys?.(input);
      if (danger) await context.confirm(danger.question, danger.type);
      const reply = await context.call(endpoint, input);
      const { printReply } = await import('./view.ts');
      printReply(context.io, reply, options.view);
      await options.after?.(reply as never, context, input);
    },
  };
}
