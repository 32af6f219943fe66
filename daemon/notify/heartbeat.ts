// Reports each minute, to where the operator chose, that this daemon runs and what is wrong: a monitor that waits for it notices silence.
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { changeMeta, LAST_HEARTBEAT_AT } from '../../data/meta.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { repeat, settledWithin } from '../loop.ts';
import { createCauses } from '../process/causes.ts';
import type { Runtime } from '../process/runtime.ts';
import { checkWebhookUrl, type HttpOut, openHttpOut } from '../webhooks/egress.ts';
import { type Cause, commandOf, databaseTroubles, oneLine, shownTime, type Watched } from './causes.ts';
import type { DatabaseCause, NoticeCause } from './names.ts';
import { shownTarget } from './targets.ts';

const EVERY_MS = 60_000;
const LEAST_WAIT_MS = 1_000;
/** What is not found by then is left out: the heartbeat goes out all the same. */
const FIND_MS = 5_000;
const WRONG_MOST = 100;
const STOP_MS = 2_000;
const USER_AGENT = 'gatewayd';

/** One thing that is wrong now. */
interface Wrong {
  cause: NoticeCause;
  subject: string;
  text: string;
  command: string;
}

export interface Heartbeat {
  start(): void;
  /** Sends one now; for tests. Never rejects. */
  beat(): Promise<void>;
  stop(): Promise<void>;
}

export interface HeartbeatOptions {
  app: Watched & Pick<App, 'database_watch'> & { log: Logger; runtime: Runtime };
  watched: readonly Cause[];
}

export function openHeartbeat({ app, watched }: HeartbeatOptions): Heartbeat {
  const { config, database_watch, clock, log, runtime } = app;
  const { heartbeat_url: url, webhook_allow_private: allow_private } = config;
  const http = openHttpOut({ allow_private, runtime });
  const causes = createCauses(log, runtime);
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();

  async function beat(): Promise<void> {
    if (url === undefined) return;
    const target = shownTarget(url);
    const wrong = await wrongNow(app, watched);
    const fault = await sendHeartbeat(http, { url, allow_private, wrong, signal: stopping.signal });
    if (stopping.signal.aborted) return;
    if (fault !== null) {
      const says = 'the heartbeat did not arrive; trying again each minute';
      causes.failed('heartbeat', 'warn', { target, reason: fault }, says);
      return;
    }
    causes.over('heartbeat', { target }, 'the heartbeat arrives again');
    if (database_watch.trouble() !== null) return;
    await changeMeta(app.db.query, LAST_HEARTBEAT_AT, String(seconds(clock))).catch((error: unknown) =>
      log.debug({ err: error }, 'when the heartbeat arrived could not be stored'),
    );
  }

  return {
    beat,
    start() {
      if (url === undefined) return;
      const again = async () => {
        const began_ms = runtime.elapsed_ms();
        await beat();
        return Math.max(LEAST_WAIT_MS, EVERY_MS - (runtime.elapsed_ms() - began_ms));
      };
      running = repeat(again, { runtime, signal: stopping.signal });
    },
    async stop() {
      stopping.abort();
      await settledWithin(STOP_MS, running, runtime);
    },
  };
}

/** Null where it was taken, otherwise why not, in words without secrets. */
export async function sendHeartbeat(
  http: HttpOut,
  {
    url,
    allow_private,
    wrong,
    signal,
    ...extra
  }: { url: string; allow_private: boolean; wrong: readonly Wrong[]; signal: AbortSignal; test?: true },
): Promise<string | null> {
  try {
    checkWebhookUrl(url, { allow_private });
  } catch (error) {
    return (error as Error).message;
  }
  const outcome = await http.post(url, {
    headers: { 'content-type': 'application/json', 'user-agent': USER_AGENT },
    body: JSON.stringify({ ok: wrong.length === 0, wrong, ...extra }),
    signal,
  });
  if (outcome.kind === 'interrupted') return 'interrupted before the answer';
  if (outcome.kind === 'failed') return outcome.error;
  const { http_status } = outcome;
  return http_status >= 200 && http_status < 300 ? null : `answered HTTP ${http_status}`;
}

/** What lasts, as it is now; what cannot be found without the database is left out while that cannot be used. */
async function wrongNow(app: HeartbeatOptions['app'], watched: readonly Cause[]): Promise<Wrong[]> {
  const found: Wrong[] = [];
  const trouble = app.database_watch.trouble();
  if (trouble !== null) {
    const cause: DatabaseCause = `database_${trouble.fault}`;
    const { says } = databaseTroubles[cause];
    const text = oneLine(`${hostname()}: ${says} since ${shownTime(trouble.since)} (${trouble.reason})`);
    found.push({ cause, subject: 'database', text, command: commandOf(cause) });
  }
  const finding = watched.map(async (cause) => {
    if (!cause.lasts) return;
    const all = await cause.find(app, seconds(app.clock)).catch(() => []);
    for (const { subject, text } of all) {
      if (text === null) continue;
      found.push({
        cause: cause.name,
        subject,
        text: oneLine(cause.own ? `${hostname()}: ${text}` : text),
        command: cause.command,
      });
    }
  });
  await settledWithin(FIND_MS, Promise.all(finding), app.runtime);
  return found.slice(0, WRONG_MOST);
}
