// Every command: reachable, described, with help, examples and JSON.
import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { deriveRows, openRegistry } from '../../cli/commands.ts';
import type { Command, CommandEntry } from '../../cli/engine/command.ts';
import { readWords } from '../../cli/engine/commander.ts';
import { exits } from '../../cli/engine/errors.ts';
import { globals } from '../../cli/engine/globals.ts';
import { printCommand } from '../../cli/engine/help.ts';
import { allFlags } from '../../cli/engine/input.ts';
import { optionsOf } from '../../cli/engine/options.ts';
import { fieldsOf, readPlain } from '../../cli/engine/parse.ts';
import { namedBy } from '../../cli/engine/references.ts';
import { readLine } from '../../cli/engine/resolve.ts';
import { type Io, processIo } from '../../cli/output/io.ts';
import { api } from '../../src/api/endpoints/api.ts';
import { endpointsOf } from '../../src/api/endpoints/by-tag.ts';
import { verifies } from '../requirements.ts';

const registry = await openRegistry();
const { aliases, entries, groups } = registry;
const names = globals.map(({ name }) => name as string);
/** Speaks a protocol of its own on stdout. */
const PROTOCOLS = ['mcp'];

let all: { entry: CommandEntry; command: Command }[] = [];
beforeAll(async () => {
  all = await Promise.all(entries.map(async (entry) => ({ entry, command: await entry.load() })));
});

function helpOf(entry: CommandEntry, command: Command): string {
  const stdout = new PassThrough();
  const io: Io = { ...processIo(), stdout: stdout as unknown as NodeJS.WriteStream };
  printCommand(io, command, entry);
  return String(stdout.read());
}

describe('the tree of commands', () => {
  it('reaches every endpoint by a named command', () => {
    verifies('gw-commands');
    const reached = new Set(all.flatMap(({ command }) => command.endpoints.map(({ id }) => id)));
    expect(api.map(({ id }) => id).filter((id) => !reached.has(id))).toEqual([]);
  });

  it('names each command once, with a summary of its own and a group that is described', () => {
    expect(new Set(entries.map(({ path }) => path)).size).toBe(entries.length);
    for (const { path, summary } of entries) {
      expect(summary, path).toMatch(/^[A-Z].*[^.]$/);
      const group = path.split(' ').slice(0, -1).join(' ');
      if (group) expect(groups[group]?.summary, group).toBeTruthy();
    }
  });

  it('reads a plain command line as commander reads it', () => {
    let read = 0;
    for (const { entry, command } of all) {
      const known = optionsOf(command, allFlags(command));
      const values = ['value', '-5', '', ...known.flatMap(({ choices }) => choices ?? [])];
      const word = fc.oneof(
        fc.constantFrom('-', '--', '--unknown', '-x', ...values),
        fc
          .tuple(
            fc.constantFrom(...known.flatMap((option) => option.names)),
            fc.constantFrom(undefined, ...values),
          )
          .map(([name, value]) => (value === undefined ? name : `${name}=${value}`)),
      );
      fc.assert(
        fc.property(fc.array(word, { maxLength: 4 }), (words) => {
          const plain = readPlain(words, known);
          if (!plain) return;
          read++;
          const options = { ...readWords([], command, entry).options, ...plain.options };
          expect({ ...plain, options }, `${entry.path} ${words.join(' ')}`).toEqual(
            readWords(words, command, entry),
          );
        }),
        { numRuns: 30 },
      );
    }
    expect(read).toBeGreaterThan(entries.length);
  });

  it('takes references wherever it takes the id of something', () => {
    verifies('explain-references');
    // Places in a list that only its pages tell, and what is no id: words, names, addresses, amounts, texts.
    const cursors = ['claim list --after', 'admin claims --after', 'ledger list --after'];
    const others =
      'action address alias amount blockchain chain command email email_to file forward_to key kind merchant_slug method name note noun path prepaid_usd q ref shell telegram_id till txid unit_slug value verb'.split(
        ' ',
      );
    const unresolved: string[] = [];
    for (const { entry, command } of all)
      for (const flag of allFlags(command)) {
        const isPlaced = flag.place === 'params' || (command.args ?? []).includes(flag.field);
        const isId = /(^|_)id$|^after$/.test(flag.field) || flag.value === 'id';
        if (!isPlaced && !isId) continue;
        const isKnown = others.includes(flag.field) || cursors.includes(`${entry.path} --${flag.name}`);
        // The sandbox resolves its own.
        const isOfSandbox = entry.path === 'trigger' && flag.field === 'invoice_id';
        if (!isKnown && !isOfSandbox && namedBy(flag, command.input) === undefined)
          unresolved.push(`${entry.path} ${flag.field}`);
      }
    expect(unresolved, 'cli/engine/references.ts says what a field names').toEqual([]);
  });

  it('says of every list with pages how many there are, which only a person asks for', () => {
    verifies('list-totals');
    const silent = all.flatMap(({ entry, command: { input } }) => {
      const { query = {}, response } = input ?? {};
      const hasPages = 'limit' in query && ('after' in query || 'skip' in query);
      const members = response && 'shape' in response ? (response.shape as object) : {};
      return hasPages && !('count' in query && 'total' in members) && !('count' in members)
        ? [entry.path]
        : [];
    });
    expect(silent).toEqual([]);
  });

  it('resolves every alias to a command or a group', () => {
    verifies('gw-plurals');
    for (const [alias, full] of Object.entries(aliases)) {
      const found = readLine([alias], registry);
      expect(found.path.join(' ').startsWith(full), alias).toBe(true);
    }
    expect(readLine(['units'], registry).entry?.path).toBe('unit list');
    expect(readLine(['invoices', '--status', 'created'], registry).entry?.path).toBe('invoice list');
    expect(readLine(['--url', 'http://x', '--json', 'invoice', 'get', 'ID'], registry).rest).toEqual([
      '--url',
      'http://x',
      '--json',
      'ID',
    ]);
  });

  it('gives each command help with examples, --json and the way to the exit codes', () => {
    for (const { entry, command } of all) {
      const help = helpOf(entry, command);
      expect(help, entry.path).toContain('Examples:');
      expect(help, entry.path).toContain('--json [members]');
      expect(help, entry.path).toContain('gw help exit-codes');
      for (const flag of allFlags(command)) expect(help, entry.path).toContain(`--${flag.name}`);
    }
  });

  it('shows an example for people and one with --json, each of its own command', () => {
    for (const { entry, command } of all) {
      const [noun = ''] = entry.path.split(' ');
      const plural = Object.entries(aliases).find(([, full]) => full === noun)?.[0] ?? noun;
      const isOwn = (line: string) =>
        [
          entry.path,
          noun,
          plural,
          ...entries.flatMap(({ path, endpoint }) => (endpoint && endpoint === entry.endpoint ? path : [])),
          ...Object.keys(aliases).filter((alias) => aliases[alias] === entry.path),
        ].some((name) => line.includes(`gw ${name}`));
      expect(command.examples.every(isOwn), `${entry.path}: ${command.examples}`).toBe(true);
      expect(
        command.examples.some((line) => !line.includes('--json')),
        entry.path,
      ).toBe(true);
      if (!PROTOCOLS.includes(entry.path))
        expect(
          command.examples.some((line) => line.includes('--json')),
          entry.path,
        ).toBe(true);
    }
  });

  it('has examples whose flags exist and whose members of --json are known', () => {
    for (const { command } of all)
      for (const example of command.examples) {
        const known_flags = new Set([...names, ...allFlags(command).map(({ name }) => name)]);
        for (const [, name = ''] of example
          .replace(/'[^']*'|"[^"]*"/g, 'x')
          .matchAll(/ --(?:no-)?([a-z-]+)/g))
          expect(known_flags.has(name) || known_flags.has(`no-${name}`), `${example}: --${name}`).toBe(true);
        const members = /--json ([a-z_,]+)/.exec(example)?.[1]?.split(',') ?? [];
        const known = fieldsOf(command);
        if (known.size > 0)
          for (const member of members) expect(known, `${example}: ${member}`).toContain(member);
      }
  });

  it('gives no flag of a command the name of a global one', () => {
    for (const { entry, command } of all) {
      const own = allFlags(command).map(({ name }) => name);
      expect(new Set(own).size, entry.path).toBe(own.length);
      // `invoice wait` waits longer than one answer takes: its own timeout replaces the global one.
      const replaced = entry.path === 'invoice wait' ? ['timeout'] : [];
      expect(
        own.filter((name) => names.includes(name)),
        entry.path,
      ).toEqual(replaced);
    }
  });

  it('has a row for each endpoint with a name in gw, and the build wrote the same ones', async () => {
    const rows = await deriveRows();
    expect(rows.map(({ endpoint }) => endpoint)).toEqual(
      api.flatMap((endpoint) => ('gw' in endpoint ? [endpoint.id] : [])),
    );
    const built: unknown = JSON.parse(
      readFileSync(new URL('../../dist/commands.json', import.meta.url), 'utf8'),
    );
    expect(built).toEqual(rows);
  });

  it('loads an endpoint by its part of the interface', async () => {
    for (const { id, tag } of api)
      expect((await endpointsOf[tag]()).map((endpoint) => endpoint.id)).toContain(id);
  });

  it('documents each exit code once', () => {
    const codes = Object.values(exits).map(({ code }) => code);
    expect(codes).toEqual([0, 1, 2, 3, 4, 5, 6, 69, 75, 76, 77, 78, 124, 130]);
    expect(new Set(codes).size).toBe(codes.length);
  });
});
