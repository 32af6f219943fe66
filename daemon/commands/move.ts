// `gatewayd move`: moves a gateway from SQLite to PostgreSQL while no daemon runs on it.
import { existsSync } from 'node:fs';
import { type Moved, moveBack, moveToPostgres } from '../move/move.ts';
import { prepareDataDir } from '../process/data-dir.ts';
import { EXIT } from '../process/failure.ts';
import { lockDatabase } from '../process/instance-lock.ts';
import { takeOwner } from '../process/owner.ts';
import { systemRuntime } from '../process/runtime.ts';
import { type Config, ConfigError, type Effective } from '../settings/config.ts';
import { MOVE_TO, shown } from '../settings/layers.ts';
import { settings } from '../settings/schema.ts';
import { interruptible } from './interrupt.ts';
import { configOf } from './options.ts';
import { createProgress, lawLines } from './verify.ts';

export interface MoveFlags {
  to?: string;
  back?: boolean;
  yes?: boolean;
  acceptBroken?: boolean;
  json?: boolean;
}

/** Prints what was moved, and sets the exit code: 0, or 65 where a law is broken and nothing was changed. */
export async function move(options: Record<string, unknown> & MoveFlags): Promise<void> {
  const effective = configOf(options);
  const { config } = effective;
  assertSqlite(config);
  const to = options.back ? undefined : targetOf(options.to ?? process.env[MOVE_TO]);
  takeOwner(config);
  prepareDataDir(config);
  const lock = lockDatabase(config.database_url);
  try {
    if (to === undefined) await back(config, options);
    else await there(effective, to, options);
  } finally {
    lock.release();
  }
}

function assertSqlite({ database_url }: Config): void {
  if (!database_url.startsWith('sqlite:'))
    throw new ConfigError('database_url is of PostgreSQL already; a gateway is moved from SQLite only');
  if (!existsSync(database_url.slice('sqlite:'.length)))
    throw new ConfigError(`there is no database at ${database_url}`);
}

/** Throws ConfigError without showing what was given: it has a password. */
function targetOf(url: string | undefined): string {
  if (!url)
    throw new ConfigError(
      `name the new database: --to postgres://user@host/name, or the variable ${MOVE_TO}`,
    );
  if (!/^postgres(ql)?:\/\/./.test(url.trim()) || !URL.canParse(url.trim()))
    throw new ConfigError(`--to (or ${MOVE_TO}) must be postgres://user@host/name`);
  return url.trim();
}

async function there({ config, origins }: Effective, to: string, options: MoveFlags): Promise<void> {
  const places = { from: withoutPassword(config.database_url), to: withoutPassword(to) };
  const progress = createProgress(options.json !== true);
  const moved = await interruptible((signal) =>
    moveToPostgres({
      config,
      to,
      places,
      id: systemRuntime.uuid(),
      accept_broken: options.acceptBroken === true,
      now: Math.floor(Date.now() / 1000),
      signal,
      onStep: progress.show,
    }),
  ).finally(progress.end);
  const where = origins.get('database_url')?.label;
  const lines = options.json
    ? [JSON.stringify({ ...places, ...moved })]
    : linesOf(moved, places, { where, data_dir: config.data_dir });
  process.stdout.write(`${lines.join('\n')}\n`);
  if (!moved.moved) process.exitCode = EXIT.broken_data;
}

const withoutPassword = (url: string): string => {
  const leaf = settings.find(({ name }) => name === 'database_url');
  return leaf ? String(shown(leaf, url)) : '';
};

function linesOf(
  { moved, tables, laws }: Moved,
  places: { from: string; to: string },
  { where, data_dir }: { where: string | undefined; data_dir: string },
): string[] {
  const sides = [
    ['SQLite', laws.from],
    ['PostgreSQL', laws.to],
  ] as const;
  const judged = sides.flatMap(([side, results]) => {
    if (results.length === 0) return [];
    const broken = results.filter(({ ok }) => !ok);
    const verdict = broken.length === 0 ? 'none is broken' : `${broken.length} broken or unchecked`;
    return [...broken.flatMap(lawLines), `${results.length} laws checked in ${side}: ${verdict}`];
  });
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  if (!moved) return [...judged, 'nothing was moved; --accept-broken moves the books as they are'];
  return [
    ...judged,
    tables.length === 0
      ? 'the books were there already: the last step of a move that was interrupted is done'
      : `${rows} rows of ${tables.length} tables: the same on both sides`,
    `moved from ${places.from} to ${places.to}`,
    'what to do now:',
    `  1. set database_url to the new database${where === undefined ? ' (it was the default until now)' : ` in ${where}`}`,
    `  2. leave data_dir at ${data_dir}: the secret stays there`,
    '  3. gatewayd start, then gatewayd backup: backups of before cannot be restored into PostgreSQL',
    'the old database is as it was, but no daemon starts on it: `gatewayd move --back` would take the move back',
  ];
}

async function back(config: Config, { yes, json }: MoveFlags): Promise<void> {
  const { id, place, at } = await moveBack(config, yes === true);
  process.stdout.write(
    json
      ? `${JSON.stringify({ database: config.database_url, was_moved_to: place, moved_at: at, id })}\n`
      : `${config.database_url} is in use again, as it was before it was moved to ${place}\nno daemon may start on that one any more: drop it\n`,
  );
}
