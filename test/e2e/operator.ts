// What an operator has who sleeps: the mails of a deployment, its metrics, what doctor says, and its log; nothing else.
import { expect } from 'vitest';
import { noticeCauses } from '../../daemon/notify/names.ts';
import type { Home, RunOptions } from '../daemon/helpers/process.ts';
import { readMetrics, type Scraped } from '../helpers/metrics.ts';
import { smtpServer } from '../helpers/smtp.ts';
import { until } from '../helpers/until.ts';

const METRICS_TOKEN = 'a-token-for-the-metrics';
/** What is promised: from a fault to the mail about it. */
const NOTIFIED_SECONDS = 90;
/** What a busy machine adds to it: two daemons of which neither reads any more take 86 s of the promise by their own pauses. */
const BUSY_SECONDS = 45;
/** A busy machine shows by how much it is late before it is given up. */
const WAIT_MS = 240_000;
/** Gauges that an alert, or a person at the dashboard, goes by. */
const SHOWN =
  /^gatewayd_(database_up|database_writable|blockchain_blind|blockchain_lag_seconds|route_dead|provider_down|notices_undelivered|backup_age_seconds|disk_free_bytes)$/;
/** What moves on its own is shown where it moved by more. */
const MOVES_SECONDS = 45;
const MOVES_BYTES = 100 * 1024 ** 2;

/** All that there is but the pace, which the chains of tests do not keep. */
const HEARD = noticeCauses.filter((cause) => !cause.startsWith('pace_'));

/** One thing that a mail says. */
interface Notice {
  title: string;
  text: string;
  /** Of the whole mail. */
  mail: string;
  subject: string;
  at_ms: number;
}

interface Finding {
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

/** Of one fault, for people who read about it. */
interface Chapter {
  fault: string;
  notified_seconds: number | null;
  over_seconds: number | null;
  mails: string[];
  metrics: string[];
  doctor: string[];
}

interface Expected {
  title: string;
  /** What the notice says: provider, error. */
  says: RegExp;
  /** The command that it names. */
  command?: string;
  /** The section of the runbook that it names. */
  runbook?: string;
}

/** A fault that its operator was notified of, until it is over. */
interface Night {
  notice: Notice;
  /** Repairs it, and waits for what tells of its end; null where nothing does. */
  over(repair: () => unknown, expected: Expected | null): Promise<void>;
}

export interface Fault {
  name: string;
  expected: Expected;
  /** Resolves to the moment since which it is there, milliseconds, where that was before it resolves. */
  inject(): unknown;
  /** What of the metrics and of doctor has to show it, once it is notified of. */
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

/** Each line of the mails that says something, by the title that the subject has too. */
function noticesIn({ mails, arrived_ms }: Awaited<ReturnType<typeof smtpServer>>): Notice[] {
  return mails.flatMap((mail, at) => {
    const subject = /^Subject: (.*(?:\r?\n .*)*)$/m.exec(mail)?.[1]?.replace(/\r?\n /g, ' ') ?? '';
    const titles = subject.replace(/^gatewayd: | \(\d+\)$/g, '').split(', ');
    const text = textOf(mail);
    const lines = text.split('\n').filter((line) => titles.some((title) => line.startsWith(`${title}: `)));
    return lines.map((line) => ({
      title: line.slice(0, line.indexOf(': ')),
      text: line.slice(line.indexOf(': ') + 2),
      mail: text,
      subject,
      at_ms: arrived_ms[at] ?? Date.now(),
    }));
  });
}
const keyOf = ({ title, text }: Notice) => `${title}: ${text}`;
const wholeOf = ({ subject, mail }: Notice) => `Subject: ${subject}\n${mail.trim()}`;

const NOTHING: Scraped = { types: new Map(), series: [], value: () => undefined };

/** The gauges that moved. */
function changesBetween(before: Scraped, after: Scraped): string[] {
  const valuesOf = ({ series }: Scraped) =>
    new Map(
      series
        .filter(({ name }) => SHOWN.test(name))
        .map(({ name, labels, value }) => [[name, ...Object.values(labels)].join(' '), value]),
    );
  const [was, is] = [valuesOf(before), valuesOf(after)];
  const least = (key: string) =>
    key.includes('_bytes') ? MOVES_BYTES : key.includes('_seconds') ? MOVES_SECONDS : 0;
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((key) => {
    const [old, now] = [was.get(key), is.get(key)];
    const is_same =
      old === now || (old !== undefined && now !== undefined && Math.abs(now - old) <= least(key));
    return is_same ? [] : [`${key}: ${old ?? 'none'} -> ${now ?? 'none'}`];
  });
}

/** Each deployment has one, with a mailbox of its own. */
export async function openOperator(home: Home) {
  const server = await smtpServer();
  const chapters: Chapter[] = [];
  const seen = new Set<string>();
  let daemon_url: string | null = null;
  let run_options: RunOptions = {};
  const notices = () => noticesIn(server);

  async function metrics(url = daemon_url): Promise<Scraped> {
    if (url === null) return NOTHING;
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    return readMetrics(await fetch(`${url}/metrics`, { headers }).then((answer) => answer.text()));
  }

  async function doctor(): Promise<Finding[]> {
    const { stdout, stderr } = await home.run(['doctor', '--json'], run_options);
    const { findings } = JSON.parse(stdout || '{"findings":[]}') as { findings: Finding[] };
    if (findings.length === 0) throw new Error(`doctor: ${stdout} ${stderr}`);
    return findings;
  }

  /** The mail with it, which was not expected before. */
  async function hears({ title, says, command, runbook }: Expected): Promise<Notice> {
    const isIt = (one: Notice) => one.title === title && says.test(one.text) && !seen.has(keyOf(one));
    const found = await until(
      `the operator is notified: ${title} ${says}`,
      async () => notices().find(isIt),
      WAIT_MS,
    ).catch((error) => {
      throw new Error(`${error.message}; notices were ${JSON.stringify(notices().map(keyOf), null, 1)}`);
    });
    seen.add(keyOf(found));
    if (command !== undefined) expect(found.mail).toContain(`What to do: ${command}, then `);
    if (runbook !== undefined) expect(found.mail).toMatch(new RegExp(`http\\S+/guides/run#${runbook}\\b`));
    return found;
  }

  /** Injects a fault, and waits until the operator is notified of it and sees it in the metrics and in doctor. */
  async function suffers({
    name,
    expected,
    inject,
    metrics: shows,
    url,
    doctor: line,
  }: Fault): Promise<Night> {
    const before = await metrics(url);
    const well = new Set((await doctor()).map(shown));
    const since_ms = await inject();
    const begun_ms = typeof since_ms === 'number' ? since_ms : Date.now();
    const notice = await hears(expected);
    const notified_seconds = Math.round((notice.at_ms - begun_ms) / 1000);
    expect(notified_seconds, `${name}: from fault to notice`).toBeLessThanOrEqual(
      NOTIFIED_SECONDS + BUSY_SECONDS,
    );
    // What a scrape shows may be some seconds old.
    const during = await until(
      `${name}: the metrics show it`,
      async () => {
        const scraped = await metrics(url);
        return shows(scraped) ? scraped : undefined;
      },
      NOTIFIED_SECONDS * 1000,
    );
    const red = (await doctor()).filter((one) => one.status !== 'ok' && !well.has(shown(one))).map(shown);
    const chapter: Chapter = {
      fault: name,
      notified_seconds,
      over_seconds: null,
      mails: [wholeOf(notice)],
      metrics: changesBetween(before, during),
      doctor: red,
    };
    chapters.push(chapter);
    expect(red, name).toContainEqual(expect.stringMatching(line));
    return {
      notice,
      async over(repair, end) {
        await repair();
        const repaired_ms = Date.now();
        if (end !== null) {
          const last = await hears(end);
          chapter.over_seconds = Math.round((last.at_ms - repaired_ms) / 1000);
          chapter.mails.push(wholeOf(last));
        }
        const isBack = async () => !shows(await metrics(url)) || undefined;
        await until(`${name}: the metrics are as before`, isBack, WAIT_MS);
      },
    };
  }

  return {
    /** What the settings of the deployment say about its operator. */
    env: {
      GATEWAYD_SMTP_URL: server.url,
      GATEWAYD_MAIL_FROM: 'gatewayd@example.com',
      GATEWAYD_NOTIFY: JSON.stringify([{ to: 'mailto:operator@example.com', on: HEARD }]),
      GATEWAYD_METRICS_TOKEN: METRICS_TOKEN,
    },
    /** The settings that doctor is run with; and whose metrics are read, once it runs. */
    watch(options: RunOptions, url: string | null = null) {
      run_options = options;
      daemon_url = url;
    },
    notices,
    metrics,
    doctor,
    suffers,
    chapters,
  };
}

export type Operator = Awaited<ReturnType<typeof openOperator>>;

/** The whole of it, for people. */
export const storyOf = (chapters: readonly Chapter[]): string =>
  chapters
    .map(({ fault, notified_seconds, over_seconds, mails, metrics, doctor }) =>
      [
        `=== ${fault}`,
        `--- notified after ${notified_seconds ?? '-'} s, its end after ${over_seconds ?? '-'} s`,
        ...mails.flatMap((mail) => ['--- mail', mail]),
        '--- metrics',
        ...metrics,
        '--- doctor',
        ...doctor,
      ].join('\n'),
    )
    .join('\n\n');
