// The one list of what operators are notified of: what each cause watches, what it says, and what its operator runs.
import type { StatsFs } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { allCursors } from '../../data/cursors.ts';
import { type DeadRoute, deadRoutes, forgetDeadRoute } from '../../data/dead-routes.ts';
import { findMeta, LAST_BACKUP_AT } from '../../data/meta.ts';
import {
  contradictionsSince,
  endNotice,
  type NewNotice,
  openNotices,
  paymentsSince,
  undeliveredSince,
} from '../../data/notices.ts';
import { merchantsNearLimit } from '../../data/views/merchants.ts';
import { limitOf, REFILL_CREDIT_MULTIPLIER } from '../../src/ledger.ts';
import { formatDecimal, formatUsd, parseDecimal, USD_DECIMALS } from '../../src/money.ts';
import { mostBackupAge } from '../backup/overdue.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';
import { UNKNOWN_SECONDS } from '../observer/dead-routes.ts';
import { PACE_STOPS_NOTHING, pacesOnOffer, shortDepths } from '../observer/pace.ts';
import type { Config } from '../settings/config.ts';
import { foreignWords, readingFault } from './fault.ts';
import type { DatabaseCause, NoticeCause } from './names.ts';

/** Of each cause so many are found at a time; of more the message says that there are more. */
export const FOUND_MOST = 100;
/** A disk with less than this left, or less than this share, is low. */
const DISK_LOW_BYTES = 1024 ** 3;
const DISK_LOW_SHARE = 0.05;
/** Prices are asked for after a start: for so long none is missing. */
const RATES_GRACE_MS = 5 * 60_000;

/** Where a disk may fill up: that of the state, and where the database is a file elsewhere, its own. */
export function placesOf({ data_dir, database_url }: Pick<Config, 'data_dir' | 'database_url'>): {
  disk: string;
  'database disk'?: string;
} {
  const folder = database_url.startsWith('sqlite:')
    ? dirname(database_url.slice('sqlite:'.length))
    : data_dir;
  return folder === data_dir ? { disk: data_dir } : { disk: data_dir, 'database disk': folder };
}

/** As `statfs` says it. */
export const isDiskLow = ({ bavail, blocks, bsize }: Pick<StatsFs, 'bavail' | 'blocks' | 'bsize'>): boolean =>
  bavail * bsize < DISK_LOW_BYTES || bavail < blocks * DISK_LOW_SHARE;

export type Watched = Pick<
  App,
  | 'config'
  | 'db'
  | 'clock'
  | 'clock_check'
  | 'rates'
  | 'instance'
  | 'schema'
  | 'blindness'
  | 'pace'
  | 'observer'
>;

/** One thing of a cause, as it is now. Without a text it is no news, and what was sent of it still holds. */
export type Finding = Pick<NewNotice, 'subject'> & { text: string | null };

export interface Cause {
  name: NoticeCause;
  /** What shows more of it, or ends it, as it is typed. */
  command: string;
  /** Of several together: `3 late payments`. */
  title: string;
  /**
   * `since`: what only happened is found from then on, Unix seconds. Of what lasts, all that holds now: what is found no
   * more has ended.
   */
  find(app: Watched, since: number): Promise<Finding[]>;
  /** Whether it lasts until it ends. */
  lasts?: true;
  /** Whether each daemon finds its own: its machine's, not the deployment's. */
  own?: true;
  /** The cause under which its end is notified, and its text. */
  end?: { name: NoticeCause; title: string; text(subject: string, app: Pick<App, 'config'>): string };
}

const payments = (
  name: 'payment_late' | 'payment_unmatched' | 'payment_held',
  title: string,
  what: string,
): Cause => ({
  name,
  title,
  command: `gw admin payments --status ${name.slice('payment_'.length)}`,
  async find({ db }, since) {
    const status = name.slice('payment_'.length) as 'late' | 'unmatched' | 'held';
    const rows = await paymentsSince(db.query, { status, since, limit: FOUND_MOST });
    return rows.reverse().map((row) => {
      const amount = `${formatDecimal(BigInt(row.received_atomic), row.decimals)} ${row.currency}`;
      const invoice = row.invoice_id === null ? '' : ` for invoice ${row.invoice_id}`;
      return {
        subject: row.id,
        text: `${amount}${invoice} ${what}; payment ${row.id}, transaction ${row.txid}`,
      };
    });
  },
});

export const causes: readonly Cause[] = [
  {
    name: 'blockchain_blind',
    title: 'Blockchain cannot be read',
    command: 'gw admin observers',
    lasts: true,
    async find({ blindness, config, db, observer }) {
      const blind = blindness.all();
      // Without the database, what this daemon met has to do.
      const cursors = blind.length === 0 ? [] : await allCursors(db.query).catch(() => []);
      return blind.map(({ blockchain, since }) => {
        const { providers = [] } = observer.status().find((one) => one.blockchain === blockchain) ?? {};
        const cursor = cursors.find((row) => row.blockchain === blockchain);
        const fault = readingFault(cursor, providers);
        return {
          subject: blockchain,
          text: `${nameOf(config, blockchain)} has not been read since ${shownTime(since)}${fault}; payments will be found once it is read again`,
        };
      });
    },
    end: {
      name: 'blockchain_back',
      title: 'Blockchain is read again',
      text: (blockchain, { config }) => `${nameOf(config, blockchain)} is read again`,
    },
  },
  {
    name: 'route_dead',
    title: 'A daemon cannot reach a provider',
    command: 'gatewayd doctor',
    lasts: true,
    async find({ db, clock, config }) {
      const now = seconds(clock);
      const all = await deadRoutes(db.query);
      const unknown = all.filter(({ noted_at }) => now - noted_at >= UNKNOWN_SECONDS);
      // Of a machine that is gone no one knows whether it would reach its provider: that is no news.
      for (const gone of unknown) {
        for (const { seq } of await openNotices(db.query, 'route_dead', subjectOf(gone)))
          await endNotice(db.query, seq, now);
        await forgetDeadRoute(db.query, gone);
      }
      return all
        .filter((route) => !unknown.includes(route))
        .map((route) => ({ subject: subjectOf(route), text: route.is_news ? textOf(route, config) : null }));
    },
    end: {
      name: 'route_back',
      title: 'A daemon reaches its provider again',
      text(subject, { config }) {
        const [blockchain = '', host = ''] = subject.split(' ');
        return `the daemon on ${host} can read ${nameOf(config, blockchain)} again`;
      },
    },
  },
  payments('payment_late', 'Late payment', 'arrived after the invoice had ended'),
  payments('payment_unmatched', 'Unmatched payment', 'fits no invoice'),
  payments('payment_held', 'Payment held by the limit', "waits: the merchant's limit does not cover it"),
  {
    name: 'webhook_failed',
    title: 'Webhook failed',
    command: 'gw admin events --undelivered',
    async find({ db }, since) {
      const rows = await undeliveredSince(db.query, { since, limit: FOUND_MOST });
      return rows.reverse().map(({ id, host, event_id, error }) => ({
        subject: id,
        text: `${host || 'no host'}: ${error === null ? 'no answer' : foreignWords(error)}; event ${event_id}, to be sent again with gw event resend`,
      }));
    },
  },
  {
    name: 'contradiction',
    title: 'Contradiction between sources',
    command: 'gw admin contradictions',
    async find({ db, config }, since) {
      const rows = await contradictionsSince(db.query, { since, limit: FOUND_MOST });
      return rows.reverse().map(({ id, kind, blockchain, txid, invoice_id }) => ({
        subject: id,
        text: `${nameOf(config, blockchain)}: ${kind.replaceAll('_', ' ')}${txid ? `, transaction ${txid}` : ''}${invoice_id ? `, invoice ${invoice_id}` : ''}`,
      }));
    },
  },
  {
    name: 'limit_low',
    title: "A merchant's limit is nearly used up",
    command: 'gw admin merchants',
    lasts: true,
    async find({ db, config }) {
      const below = (parseDecimal(config.limit_low_usd, USD_DECIMALS) ?? 0n) / REFILL_CREDIT_MULTIPLIER;
      const { rows } = await merchantsNearLimit(db.query, below, FOUND_MOST);
      return rows.map(({ id, slug, prepaid_micros }) => ({
        subject: id,
        text: `${slug} has ${formatUsd(limitOf(prepaid_micros))} USD of sales left`,
      }));
    },
  },
  {
    name: 'disk_low',
    title: 'Disk nearly full',
    command: 'gatewayd doctor',
    lasts: true,
    own: true,
    async find({ config }) {
      const found: Finding[] = [];
      for (const [subject, place] of Object.entries(placesOf(config))) {
        const disk = await statfs(place);
        if (!isDiskLow(disk)) continue;
        const left = Math.round((disk.bavail * disk.bsize) / 1024 ** 2);
        found.push({ subject, text: `${left} MB of disk space are left for ${place}` });
      }
      return found;
    },
  },
  {
    name: 'rate_missing',
    title: 'No exchange rate',
    command: 'gatewayd doctor',
    lasts: true,
    own: true,
    async find({ rates, clock, instance }) {
      if ((seconds(clock) - instance.describe().started_at) * 1000 < RATES_GRACE_MS) return [];
      const { currencies, sources } = rates.status();
      const faults = sources.flatMap(({ source, last_error }) =>
        last_error === null ? [] : [`${source}: ${foreignWords(last_error)}`],
      );
      const why = faults.length === 0 ? '' : ` (${faults.join(', ')})`;
      return Object.entries(currencies)
        .filter(([, { stale }]) => stale)
        .map(([currency]) => ({
          subject: currency,
          text: `invoices in ${currency} are refused: no up-to-date rate that two sources agree on${why}`,
        }));
    },
  },
  {
    name: 'backup_old',
    title: 'Backup too old',
    command: 'gatewayd backup',
    lasts: true,
    async find({ config, db, clock, instance }) {
      const made = await findMeta(db.query, LAST_BACKUP_AT);
      const { every } = config.backup;
      if (made === undefined && every === undefined) return [];
      // Where none was made yet, the first is due as long after the start.
      const at = Number(made ?? instance.describe().started_at);
      if (seconds(clock) - at <= mostBackupAge(config)) return [];
      const shown = shownTime(at);
      const text = made === undefined ? `no backup since ${shown}` : `the last backup was made on ${shown}`;
      return [{ subject: 'backup', text }];
    },
  },
  {
    name: 'clock_wrong',
    title: 'Clock wrong',
    command: 'gatewayd doctor --ntp pool.ntp.org',
    lasts: true,
    own: true,
    async find({ clock_check }) {
      const trouble = clock_check.trouble();
      return trouble ? [{ subject: 'clock', text: trouble.message }] : [];
    },
  },
  {
    name: 'schema_newer',
    title: 'Daemon to be upgraded',
    command: 'gatewayd doctor',
    lasts: true,
    own: true,
    async find({ schema }) {
      const outdated = schema.outdated();
      return outdated === null ? [] : [{ subject: 'schema', text: outdated }];
    },
  },
  {
    name: 'pace_changed',
    title: 'Pace of a blockchain changed',
    command: 'gw admin observers',
    lasts: true,
    async find({ pace, config }) {
      await pace.refresh();
      return pacesOnOffer(config, pace.measured).flatMap(({ blockchain: { id, name }, says }) =>
        says === null ? [] : [{ subject: id, text: `${name}: ${says}; ${PACE_STOPS_NOTHING}` }],
      );
    },
    end: {
      name: 'pace_usual',
      title: 'Blockchain keeps its usual pace again',
      text: (blockchain, { config }) => `${nameOf(config, blockchain)} makes blocks as fast as usual again`,
    },
  },
  {
    name: 'depth_short',
    title: 'Payments count too soon',
    command: 'gatewayd doctor',
    lasts: true,
    async find({ pace, config }) {
      await pace.refresh();
      return shortDepths(config, pace.measured).map(({ chain, says, remedy }) => ({
        subject: chain,
        text: `${says}: ${remedy}`,
      }));
    },
  },
];

/** What is wrong with the database itself: found, and notified of, without it. */
export const databaseTroubles: Readonly<Record<DatabaseCause, { title: string; says: string }>> = {
  database_away: { title: 'Database away', says: 'the database cannot be reached' },
  database_full: { title: 'Database full', says: 'the database has no room left on its disk' },
  database_read_only: { title: 'Database read-only', says: 'the database takes no writes: it is read-only' },
  database_failing: { title: 'Database failing', says: 'the database takes no writes' },
};
export const DATABASE_BACK = { name: 'database_back', title: 'Database works again' } as const;
const DATABASE_COMMAND = 'gatewayd doctor';

/** What an operator runs who is notified of this. */
export const commandOf = (name: NoticeCause): string =>
  causes.find((cause) => cause.name === name || cause.end?.name === name)?.command ?? DATABASE_COMMAND;

const textOf = (route: DeadRoute, config: Config): string => {
  const { daemon_id, host, providers, error } = route;
  const name = nameOf(config, route.blockchain);
  return `daemon ${daemon_id} on ${host} cannot read ${name} through ${providers}: ${error}; another daemon reads ${name}, so that no payment is missed`;
};

const subjectOf = ({ blockchain, host, data_dir }: DeadRoute): string => `${blockchain} ${host} ${data_dir}`;

const nameOf = ({ chains }: Pick<Config, 'chains'>, blockchain: string): string =>
  chains.find(blockchain)?.name ?? blockchain;

export const shownTime = (at: number): string => new Date(at * 1000).toISOString().replace('.000', '');

/** Controls, and characters that turn the direction of text: what is shown of others' words is one line. */
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu;
const MAX_LINE = 400;
export const oneLine = (text: string): string => text.replace(UNSEEN, ' ').slice(0, MAX_LINE);
