// Notifies operators: finds what happened, and sends each address what it asked for: at most once an hour for each cause, and for
// each subject of a cause that has few.
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { keepMeta } from '../../data/meta.ts';
import {
  claimTurn,
  type DueNotices,
  endNotice,
  forgetNotices,
  noteNotices,
  noteSent,
  noteUnsent,
  openNotices,
  subjectsOf,
  type Turn,
  unsentNotices,
} from '../../data/notices.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { repeat, settledWithin } from '../loop.ts';
import type { Runtime } from '../process/runtime.ts';
import { openHttpOut } from '../webhooks/egress.ts';
import { type Cause, causes, commandOf, FOUND_MOST, oneLine, type Watched } from './causes.ts';
import { type Heartbeat, openHeartbeat, sendHeartbeat } from './heartbeat.ts';
import { causesBySubject, lastingCauses, type NoticeCause, noticeCauses } from './names.ts';
import { openOutage } from './outage.ts';
import {
  type Fault,
  type Message,
  openTargets,
  shownTarget,
  type Target,
  type Targets,
  type TargetsOptions,
} from './targets.ts';

/** How often causes are watched and what is due is sent. */
const TICK_MS = 5_000;
/** An address is sent one message about a cause within this time. */
const HOUR_SECONDS = 3_600;
/** An address that takes nothing is tried again so soon, doubled each time up to an hour. */
const RETRY_SECONDS = 60;
/** What only happened is found for so long, also after a start, and not what was before there was anyone to notify. */
const FOUND_SECONDS = 86_400;
const FORGOTTEN_SECONDS = 7 * 86_400;
/** Of one cause a message names so many. */
const NAMED_MOST = 10;
/** A message that is under way at the end is given so long; what is not sent is sent after the next start. */
const STOP_MS = 2_000;
/** Since when there is someone to notify, Unix seconds. */
const NOTIFY_SINCE = 'notify_since';
const OUTDATED: NoticeCause = 'schema_newer';

export interface Notify {
  start(): void;
  /** Finds and sends now what is due; for tests. */
  tick(): Promise<void>;
  /** Sends a heartbeat now; for tests. */
  beat: Heartbeat['beat'];
  stop(): Promise<void>;
}

export interface NotifyOptions {
  app: Watched &
    Omit<TargetsOptions, 'config'> &
    Pick<App, 'database_watch'> & { log: Logger; runtime: Runtime };
  /** For tests. */
  watched?: readonly Cause[];
}

export function openNotify({ app, watched = causes }: NotifyOptions): Notify {
  const { log, clock, runtime } = app;
  const { query } = app.db;
  const wanted = app.config.notify;
  const targets = openTargets(app);
  const stopping = new AbortController();
  const wants = (target: Target, name: NoticeCause) => target.on?.includes(name) ?? true;
  const used = watched.filter((cause) =>
    wanted.some((target) => wants(target, cause.name) || (cause.end && wants(target, cause.end.name))),
  );
  const outage = openOutage({ app, wanted, targets, wants, signal: stopping.signal });
  const heartbeat = openHeartbeat({ app, watched });
  let forgotten_at = 0;
  let running: Promise<void> = Promise.resolve();

  /** A cause that cannot be watched hides no other. */
  async function findAll(now: number): Promise<void> {
    const since = Math.max(now - FOUND_SECONDS, Number(await keepMeta(query, NOTIFY_SINCE, String(now))));
    for (const cause of used)
      await findOne(app, cause, { now, since }).catch((error: unknown) =>
        log.warn(
          { err: error, cause: cause.name },
          'a cause of notifications cannot be watched; trying again',
        ),
      );
    if (now - forgotten_at < HOUR_SECONDS) return;
    forgotten_at = now;
    await forgetNotices(query, now - FORGOTTEN_SECONDS, lastingCauses);
  }

  const informed = new Set<Target>();
  let inform_at = 0;

  /** From memory: a daemon that may store nothing any more knows on its own whom it has informed. */
  async function informOutdated(reason: string, now: number): Promise<void> {
    if (now < inform_at) return;
    inform_at = now + RETRY_SECONDS;
    const text = oneLine(`${hostname()}: ${reason}`);
    const title = causes.find(({ name }) => name === OUTDATED)?.title ?? OUTDATED;
    const message = {
      subject: `gatewayd: ${title}`,
      lines: [`${title}: ${text}`],
      notices: [{ cause: OUTDATED, text, found_at: now, command: commandOf(OUTDATED) }],
    };
    const inform = async (target: Target) => {
      const id = `msg_${digest(`${target.to}\n${OUTDATED} ${app.instance.id}`).slice(0, 32)}`;
      const fault = await targets.send(target, { id, ...message }, stopping.signal);
      if (fault === null) informed.add(target);
      logSent(target, [OUTDATED], fault);
    };
    await Promise.all(
      wanted.filter((target) => !informed.has(target) && wants(target, OUTDATED)).map(inform),
    );
  }

  function logSent({ to }: Target, about_causes: readonly string[], fault: Fault | null): void {
    const about = { target: shownTarget(to), causes: about_causes };
    if (fault === null) log.info(about, 'operator notified');
    else log.warn({ ...about, reason: fault.reason }, 'an operator could not be notified; trying again');
  }

  async function tick(): Promise<void> {
    const now = seconds(clock);
    const outdated = app.schema.outdated();
    if (outdated !== null) return informOutdated(outdated, now);
    await outage.tick();
    // Nothing else can be found, or stored, without it.
    if (app.database_watch.trouble() !== null) return;
    await findAll(now);
    await Promise.all(wanted.map((target) => sendDue(target, now)));
  }

  /** A second blockchain that cannot be read is no news of the first: it waits for no turn of that. */
  async function turnsOf(target: Target, id: string, now: number): Promise<Turn[]> {
    const turns: Turn[] = [];
    for (const cause of noticeCauses.filter((name) => wants(target, name))) {
      const subjects = causesBySubject.includes(cause)
        ? await subjectsOf(query, { target: id, cause, now, most: FOUND_MOST })
        : [null];
      turns.push(...subjects.map((subject) => ({ target: id, cause, subject })));
    }
    return turns;
  }

  /** One message with all that is due for an address. */
  async function sendDue(target: Target, now: number): Promise<void> {
    const id = digest(target.to);
    const due: DueNotices[] = [];
    for (const turn of await turnsOf(target, id, now)) {
      const found = await unsentNotices(query, turn, { now, limit: NAMED_MOST, most: FOUND_MOST });
      // Another daemon, or this one before it was killed, may be sending: it has the hour.
      if (found.count > 0 && (await claimTurn(query, turn, { now, next_at: now + HOUR_SECONDS })))
        due.push(found);
    }
    if (due.length === 0) return;
    const fault = await targets.send(target, messageOf(id, due, watched), stopping.signal);
    // What was interrupted by a stop may have arrived: it has had its hour.
    if (fault !== null && stopping.signal.aborted) return;
    for (const { turn, through, failures } of due) {
      if (fault === null) await noteSent(query, turn, through);
      else {
        const grown_seconds = Math.min(HOUR_SECONDS, RETRY_SECONDS * 2 ** Math.min(failures, 10));
        const wait_seconds = Math.max(fault.wait_seconds, grown_seconds);
        await noteUnsent(query, turn, now + wait_seconds);
      }
    }
    logSent(target, [...new Set(due.map(({ turn }) => turn.cause))], fault);
  }

  return {
    tick,
    beat: heartbeat.beat,
    start() {
      heartbeat.start();
      if (wanted.length === 0) return;
      const again = async () => {
        await tick();
        return TICK_MS;
      };
      const onError = (error: unknown) => {
        log.warn({ err: error }, 'notifications failed; trying again');
        return TICK_MS;
      };
      running = repeat(again, { runtime, signal: stopping.signal, onError });
    },
    async stop() {
      stopping.abort();
      await Promise.all([settledWithin(STOP_MS, running, runtime), heartbeat.stop()]);
    },
  };
}

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Notes what a cause has found, and ends what holds no more. */
async function findOne(
  app: Watched,
  cause: Cause,
  { now, since }: { now: number; since: number },
): Promise<void> {
  const { query } = app.db;
  // Of two daemons on one machine with one directory, both see the same.
  const prefix = cause.own ? `${hostname()} ${app.config.data_dir} ` : '';
  const found = (await cause.find(app, since)).map(({ subject, text }) => ({
    subject: prefix + subject,
    text: text === null ? null : `${cause.own ? `${hostname()}: ` : ''}${text}`,
  }));
  const news = found.flatMap(({ subject, text }) =>
    text === null ? [] : { cause: cause.name, subject, text: oneLine(text) },
  );
  await noteNotices(query, news, now);
  if (!cause.lasts) return;
  const holds = new Set(found.map(({ subject }) => subject));
  for (const { seq, subject } of await openNotices(query, cause.name, prefix)) {
    // Of more than are found at a time, no one knows.
    if (holds.has(subject) || holds.size === FOUND_MOST) continue;
    if (!(await endNotice(query, seq, now)) || !cause.end) continue;
    const text = cause.end.text(subject.slice(prefix.length), app);
    await noteNotices(query, [{ cause: cause.end.name, subject, text, ended_at: now }], now);
  }
}

/** Sent again it has the same id. */
function messageOf(target: string, due: readonly DueNotices[], watched: readonly Cause[]): Message {
  const titleOf = (name: string) =>
    watched.find((cause) => cause.name === name)?.title ??
    watched.find((cause) => cause.end?.name === name)?.end?.title ??
    name;
  const hasEnded = ({ cause, ended_at }: DueNotices['notices'][number]) =>
    ended_at !== null && watched.some(({ name, lasts }) => name === cause && lasts);
  const lines = due.flatMap(({ turn, notices, count }) => [
    ...notices.map(
      (notice) => `${titleOf(notice.cause)}: ${notice.text}${hasEnded(notice) ? ' (over by now)' : ''}`,
    ),
    ...(count > notices.length ? [`${titleOf(turn.cause)}: and ${count - notices.length} more`] : []),
  ]);
  const titles = [...new Set(due.map(({ turn }) => titleOf(turn.cause)))];
  const count = due.reduce((sum, each) => sum + each.count, 0);
  const id = [target, ...due.map(({ turn, through }) => `${turn.cause} ${through}`)].join('\n');
  return {
    id: `msg_${digest(id).slice(0, 32)}`,
    subject: `gatewayd: ${titles.join(', ')}${titles.length === 1 && count > 1 ? ` (${count})` : ''}`,
    lines,
    notices: due.flatMap(({ notices }) =>
      notices.map((notice) => ({
        cause: notice.cause,
        text: notice.text,
        found_at: notice.found_at,
        command: commandOf(notice.cause as NoticeCause),
        ...(hasEnded(notice) ? { is_over: true as const } : {}),
      })),
    ),
  };
}

/** Sends each address, and `heartbeat_url`, what only says that it arrives; what each answered, null where it took it. */
export async function sendTests(
  options: TargetsOptions & { config: Pick<Watched['config'], 'notify' | 'heartbeat_url'> },
): Promise<{ to: string; fault: string | null }[]> {
  const targets: Targets = openTargets(options);
  const { runtime } = options;
  const { notify, public_url, heartbeat_url: url, webhook_allow_private: allow_private } = options.config;
  const { signal } = new AbortController();
  const messages = notify.map(async (target) => {
    const message = {
      id: `msg_${runtime.uuid().replaceAll('-', '')}`,
      subject: 'gatewayd: test',
      lines: [`Notifications of ${public_url} arrive here.`],
      notices: [],
    };
    const fault = await targets.send(target, message, signal);
    return { to: shownTarget(target.to), fault: fault?.reason ?? null };
  });
  if (url === undefined) return Promise.all(messages);
  const http = openHttpOut({ allow_private, runtime });
  const beat = sendHeartbeat(http, { url, allow_private, wrong: [], signal, test: true });
  return Promise.all([...messages, beat.then((fault) => ({ to: shownTarget(url), fault }))]);
}
