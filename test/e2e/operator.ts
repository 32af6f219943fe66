// What an operator has who sleeps: the mails of a deployment, its metrics, what doctor says, and its log; nothing else.
import { expect } from 'vitest';
import type { Home, RunOptions } from '../daemon/helpers/process.ts';
import { readMetrics, type Scraped } from '../helpers/metrics.ts';
import { smtpServer } from '../helpers/smtp.ts';
import { until } from '../helpers/until.ts';

const METRICS_TOKEN = 'a-token-for-the-metrics';
/** What is promised: from a fault to the mail about it. */
const TOLD_SECONDS = 90;
/** A busy machine shows by how much it is late before it is given up. */
const WAIT_MS = 240_000;
/** Gauges that an alert, or a person who looks at the dashboard, goes by. */
const LOOKED_AT =
  /^gatewayd_(database_up|database_writable|blockchain_blind|blockchain_lag_seconds|route_dead|provider_down|notices_undelivered|backup_age_seconds|disk_free_bytes)$/;
/** What moves on its own is shown where it moved by more. */
const MOVES_SECONDS = 45;
const MOVES_BYTES = 100 * 1024 ** 2;

/** One thing that a mail says. */
export interface Told {
  title: string;
  text: string;
  /** Of the whole mail. */
  mail: string;
  subject: string;
  at_ms: number;
}

export interface Finding {
  of: string;
  status: 'ok' | 'warning' | 'failed';
  says: string;
  fix: string | null;
}

/** What the log says. */
export interface Entry {
  level: number | string;
  msg: string;
  err?: { stack?: string };
}

/** Of one fault, for whoever reads about it. */
interface Chapter {
  fault: string;
  told_seconds: number | null;
  over_seconds: number | null;
  mails: string[];
  metrics: string[];
  doctor: string[];
}

export interface Expected {
  title: string;
  /** What the notice says: provider, error. */
  says: RegExp;
  /** The command that it names. */
  command?: string;
  /** The section of the runbook that it names. */
  runbook?: string;
}

/** A fault that was told of, until it is over. */
export interface Night {
  notice: Told;
  /** Repairs it, and waits for what tells of its end; null where nothing does. */
  over(repair: () => unknown, expected: Expected | null): Promise<void>;
}

export interface Fault {
  name: string;
  expected: Expected;
  /** Resolves to the moment since which it is there, milliseconds, where that was before it resolves. */
  inject(): unknown;
  /** What of the metrics and of doctor has to show it, once it is told of. */
  metrics(scraped: Scraped): boolean;
  /** The daemon whose metrics they are, where it is not the one that is watched. */
  url?: string;
  doctor: RegExp;
}

const shown = ({ of, status, says, fix }: Finding): string =>
  `${status.padEnd(8)} ${of}: ${says}${fix === null ? '' : `; what to do: ${fix}`}`;

/** The text of a mail, without what its transport has done to it. */
function textOf(mail: string): string {
  const [, part = ''] =
    /Content-Type: text\/plain.*?(Content-Transfer-Encoding:.*?)\r?\n--/is.exec(mail) ?? [];
  const at = part.search(/\r?\n\r?\n/);
  const [head, body] = [part.slice(0, at), part.slice(at)];
  if (/base64/i.test(head)) return Buffer.from(body, 'base64').toString();
  const lines = body.replaceAll('\r\n', '\n');
  if (!/quoted-printable/i.test(head)) return lines.replaceAll(' \n', ' ');
  const bytes = lines
    .replaceAll('=\n', '')
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}

const NOTHING: Scraped = { types: new Map(), series: [], value: () => undefined };

/** Each deployment has one, with a mailbox of its own. */
export async function openOperator(home: Home) {
  const server = await smtpServer();
  const arrived_ms: number[] = [];
  const push = server.mails.push.bind(server.mails);
  server.mails.push = (...mails) => {
    arrived_ms.push(Date.now());
    return push(...mails);
  };
  const chapters: Chapter[] = [];
  const seen = new Set<string>();
  let daemon_url: string | null = null;
  let run_options: RunOptions = {};

  const told = (): Told[] =>
    server.mails.flatMap((mail, at) => {
      const subject = /^Subject: (.*(?:\r?\n .*)*)$/m.exec(mail)?.[1]?.replace(/\r?\n /g, ' ') ?? '';
      const titles = subject.replace(/^gatewayd: | \(\d+\)$/g, '').split(', ');
      const text = textOf(mail);
      const lines = text.split('\n').filter((line) => titles.some((title) => line.startsWith(`${title}: `)));
      return lines.map((line) => ({
        title: line.slice(0, line.indexOf(': ')),
        text: line.slice(line.indexOf(': ') + 2),
        mail: text,
        subject,
        at_ms: arrived_ms[at] as number,
      }));
    });
  const keyOf = ({ title, text }: Told) => `${title}: ${text}`;

  async function metrics(url = daemon_url): Promise<Scraped> {
    if (url === null) return NOTHING;
    const answer = await fetch(`${url}/metrics`, {
      headers: { authorization: `Bearer ${METRICS_TOKEN}` },
    });
    return readMetrics(await answer.text());
  }
  async function doctor(): Promise<Finding[]> {
    const { stdout, stderr } = await home.run(['doctor', '--json'], run_options);
    const { findings } = JSON.parse(stdout || '{"findings":[]}') as { findings: Finding[] };
    if (findings.length === 0) throw new Error(`doctor: ${stdout} ${stderr}`);
    return findings;
  }

  /** The mail with it, which was not expected before. */
  async function hears({ title, says, command, runbook }: Expected): Promise<Told> {
    const found = await until(
      `the operator is told: ${title} ${says}`,
      async () => told().find((one) => one.title === title && says.test(one.text) && !seen.has(keyOf(one))),
      WAIT_MS,
    ).catch((error) => {
      throw new Error(`${error.message}; told was ${JSON.stringify(told().map(keyOf), null, 1)}`);
    });
    seen.add(keyOf(found));
    expect(found.subject).toContain('gatewayd: ');
    if (command !== undefined) expect(found.mail).toContain(`What to do: ${command}, then `);
    if (runbook !== undefined) expect(found.mail).toMatch(new RegExp(`http\\S+/guides/run#${runbook}\\b`));
    return found;
  }

  function changes(before: Scraped, after: Scraped): string[] {
    const labelled = ({ name, labels }: Scraped['series'][number]) =>
      `${name}${Object.entries(labels)
        .map(([label, value]) => ` ${label}=${value}`)
        .join('')}`;
    const was = new Map(before.series.map((one) => [labelled(one), one.value]));
    const lines = after.series.flatMap((one) => {
      const [key, old] = [labelled(one), was.get(labelled(one))];
      const least = one.name.endsWith('_bytes')
        ? MOVES_BYTES
        : one.name.endsWith('_seconds')
          ? MOVES_SECONDS
          : 0;
      const is_moved = old === undefined || Math.abs(one.value - old) > least;
      return LOOKED_AT.test(one.name) && is_moved ? [`${key}: ${old ?? 'none'} -> ${one.value}`] : [];
    });
    const gone = [...was.keys()].filter(
      (key) => LOOKED_AT.test(key.split(' ')[0] ?? '') && !after.series.some((one) => labelled(one) === key),
    );
    return [...lines, ...gone.map((key) => `${key}: ${was.get(key)} -> none`)];
  }

  return {
    /** What the settings of the deployment say about its operator. */
    env: {
      GATEWAYD_SMTP_URL: server.url,
      GATEWAYD_MAIL_FROM: 'gatewayd@example.com',
      GATEWAYD_NOTIFY: JSON.stringify([{ to: 'mailto:operator@example.com' }]),
      GATEWAYD_METRICS_TOKEN: METRICS_TOKEN,
    },
    /** The settings that doctor is run with; and whose metrics are read, once it runs. */
    watch(options: RunOptions, url: string | null = null) {
      run_options = options;
      daemon_url = url;
    },
    told,
    metrics,
    doctor,
    hears,
    chapters,
    /** Injects a fault, and waits until the operator is told of it and sees it in the metrics and in doctor. */
    async suffers({ name, expected, inject, metrics: moved, url, doctor: red }: Fault): Promise<Night> {
      const before = await metrics(url);
      const well = new Set((await doctor()).map(shown));
      const since_ms = await inject();
      const begun_ms = typeof since_ms === 'number' ? since_ms : Date.now();
      const notice = await hears(expected);
      const told_seconds = Math.round((notice.at_ms - begun_ms) / 1000);
      expect(told_seconds, `${name}: from fault to notice`).toBeLessThanOrEqual(TOLD_SECONDS);
      const during = await metrics(url);
      const lines = (await doctor()).filter((one) => one.status !== 'ok' && !well.has(shown(one))).map(shown);
      const chapter: Chapter = {
        fault: name,
        told_seconds,
        over_seconds: null,
        mails: [`Subject: ${notice.subject}\n${notice.mail.trim()}`],
        metrics: changes(before, during),
        doctor: lines,
      };
      chapters.push(chapter);
      expect(moved(during), `${name}: ${chapter.metrics.join('\n')}`).toBe(true);
      expect(lines, name).toContainEqual(expect.stringMatching(red));
      return {
        notice,
        async over(repair, end) {
          await repair();
          const repaired_ms = Date.now();
          if (end !== null) {
            const last = await hears(end);
            chapter.over_seconds = Math.round((last.at_ms - repaired_ms) / 1000);
            chapter.mails.push(`Subject: ${last.subject}\n${last.mail.trim()}`);
          }
          await until(
            `${name}: the metrics are as before`,
            async () => !moved(await metrics(url)) || undefined,
            WAIT_MS,
          );
        },
      };
    },
  };
}

export type Operator = Awaited<ReturnType<typeof openOperator>>;

/** The whole of it, for people. */
export const storyOf = (chapters: readonly Chapter[]): string =>
  chapters
    .map(({ fault, told_seconds, over_seconds, mails, metrics, doctor }) =>
      [
        `=== ${fault}`,
        `--- told after ${told_seconds ?? '-'} s, its end after ${over_seconds ?? '-'} s`,
        ...mails.flatMap((mail) => ['--- mail', mail]),
        '--- metrics',
        ...metrics,
        '--- doctor',
        ...doctor,
      ].join('\n'),
    )
    .join('\n\n');
