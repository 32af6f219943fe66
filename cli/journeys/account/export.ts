// `gw account export`: everything of the account, as one JSON document or as a folder of CSV files.
import { rmSync } from 'node:fs';
import { lstat, mkdir, open, rename } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { exportAccount } from '../../../src/api/endpoints/merchant.ts';
import { exportTables } from '../../../src/api/schemas/merchant.ts';
import type { Command, Context } from '../../engine/command.ts';
import { GwError } from '../../engine/errors.ts';
import { csvLine } from '../../output/csv.ts';
import { say } from '../../output/io.ts';
import { printObject } from '../../output/view.ts';

type Table = (typeof exportTables)[number];
type Row = Record<string, unknown>;

/** Rows, or invoices that rows belong to, in one answer of the service. */
const PAGE = 500;
/** What is in an export is for its owner alone. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** Of the document, for programs that read it. */
const VERSION = 1;

const formats = ['json', 'csv'] as const;
type Format = (typeof formats)[number];

export const command: Command = {
  endpoints: [exportAccount],
  args: ['path'],
  flags: [
    {
      field: 'path',
      name: 'path',
      place: 'own',
      kind: 'text',
      help: 'file (json) or folder (csv) to write; default: gatewayd-export-DATE in this folder',
    },
    {
      field: 'format',
      name: 'format',
      place: 'own',
      kind: 'text',
      choices: formats,
      default: 'json',
      help: 'one JSON document with a row on each line, or a folder with one CSV file for each table',
    },
  ],
  about: `Writes everything of your account: profile, units, wallets, invoices with their payments, transfers and logs, income, the
ledger with its hashes, events and webhook deliveries. Refills are invoices of kind \`refill\`. Keys and secrets are left out.

Rows are as they are stored: \`_micros\` are millionths of a USD, \`_atomic\` atomic units of a coin, \`_at\` Unix seconds. Tables are
read one after the other while the service runs: what was there when the export began is in it, each row once; what happens
meanwhile may be. What a row names is in the export, too, except what the operator's \`retention\` has removed.

The path gets its name when all of it is written: an export that is interrupted leaves nothing. What exists is not replaced.
In CSV, text that a spreadsheet would take for a formula begins with an apostrophe.`,
  examples: [
    'gw account export',
    'gw account export books --format csv',
    'gw account export export.json --json',
  ],
  fields: ['path', 'format', 'tables'],
  async run(context) {
    const { own } = await context.input();
    const { path, rows } = await exportTo(context, {
      path: typeof own.path === 'string' ? own.path : undefined,
      format: own.format === 'csv' ? 'csv' : 'json',
    });
    const { io } = context;
    const count = Object.values(rows).reduce((sum, some) => sum + some, 0);
    say(io, `${count} rows of ${exportTables.length} tables are in ${path}`);
    if (io.json !== false)
      printObject(io, { path, format: own.format === 'csv' ? 'csv' : 'json', tables: rows });
  },
};

/** Writes an export and returns where, and how many rows each table has. Refuses where something is there already. */
export async function exportTo(
  context: Context,
  { path, format }: { path?: string | undefined; format: Format },
): Promise<{ path: string; rows: Record<string, number> }> {
  const day = new Date().toISOString().slice(0, 10);
  const target = resolve(path ?? `gatewayd-export-${day}${format === 'json' ? '.json' : ''}`);
  const isThere = await lstat(target).then(
    () => true,
    () => false,
  );
  if (isThere)
    throw new GwError('conflict', `${target} exists, and is not replaced`, {
      code: 'path_exists',
      hint: 'name another path: gw account export PATH',
    });
  const partial = `${target}.partial-${process.pid}`;
  const removePartial = () => rmSync(partial, { recursive: true, force: true });
  // A signal ends the process with no further step.
  process.once('exit', removePartial);
  try {
    const rows = await (format === 'csv' ? writeFolder(context, partial) : writeDocument(context, partial));
    await rename(partial, target);
    return { path: target, rows };
  } catch (error) {
    removePartial();
    throw error;
  } finally {
    process.off('exit', removePartial);
  }
}

/** The rows of a table, a page at a time. */
async function* pagesOf(context: Context, table: Table): AsyncGenerator<readonly Row[]> {
  let after: string | undefined;
  for (;;) {
    context.signal.throwIfAborted();
    const query = { table, limit: PAGE, ...(after === undefined ? {} : { after }) };
    const page = await context.call(exportAccount, { query });
    if (page.data.length > 0) yield page.data;
    if (page.next === null) return;
    after = page.next;
  }
}

/** Opens a file, lets `fill` write into it, and closes it when all of it is on the disk. */
async function writeFile(
  path: string,
  fill: (write: (text: string) => Promise<void>) => Promise<number>,
): Promise<number> {
  const file = await open(path, 'wx', FILE_MODE);
  try {
    const count = await fill((text) => file.appendFile(text));
    await file.sync();
    return count;
  } finally {
    await file.close();
  }
}

async function writeDocument(context: Context, path: string): Promise<Record<string, number>> {
  const { url } = await context.settings();
  const rows: Record<string, number> = {};
  await writeFile(path, async (write) => {
    const head = { gatewayd_export: VERSION, service: url, exported_at: new Date().toISOString() };
    await write(`${JSON.stringify(head).slice(0, -1)},"tables":{\n`);
    for (const [index, table] of exportTables.entries()) {
      await write(`${index > 0 ? ',\n' : ''}${JSON.stringify(table)}:[`);
      let count = 0;
      for await (const page of pagesOf(context, table)) {
        const lines = page.map((row) => JSON.stringify(row)).join(',\n');
        await write(`${count > 0 ? ',' : ''}\n${lines}`);
        count += page.length;
      }
      await write(']');
      rows[table] = count;
    }
    await write('\n}}\n');
    return exportTables.length;
  });
  return rows;
}

async function writeFolder(context: Context, path: string): Promise<Record<string, number>> {
  await mkdir(path, { mode: FOLDER_MODE });
  const rows: Record<string, number> = {};
  for (const table of exportTables)
    rows[table] = await writeFile(join(path, `${table}.csv`), async (write) => {
      let count = 0;
      let columns: string[] = [];
      for await (const page of pagesOf(context, table)) {
        if (count === 0) {
          columns = Object.keys(page[0] ?? {});
          await write(csvLine(columns));
        }
        await write(page.map((row) => csvLine(columns.map((name) => row[name]))).join(''));
        count += page.length;
      }
      return count;
    });
  return rows;
}
