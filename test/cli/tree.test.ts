// Every command: reachable, described, with help, examples and JSON.
import { PassThrough } from 'node:stream';
import type { CommanderError } from 'commander';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Command } from '../../cli/command.ts';
import { aliases, type Entry, entries, groups } from '../../cli/commands.ts';
import { exits } from '../../cli/errors.ts';
import { allFlags } from '../../cli/input.ts';
import { type Io, processIo } from '../../cli/io.ts';
import { fieldsOf, parseLeaf } from '../../cli/parse.ts';
import { findCommand } from '../../cli/tree.ts';
import { api } from '../../src/api/endpoints/api.ts';
import { verifies } from '../requirements.ts';

const GLOBALS = [
  'json',
  'url',
  'api-key',
  'token',
  'profile',
  'no-input',
  'yes',
  'quiet',
  'verbose',
  'color',
  'help',
  'file',
  'dry-run',
];
/** Speaks a protocol of its own on stdout. */
const PROTOCOLS = ['mcp'];

let all: { entry: Entry; command: Command }[] = [];
beforeAll(async () => {
  all = await Promise.all(entries.map(async (entry) => ({ entry, command: await entry.load() })));
});

function helpOf(entry: Entry, command: Command): string {
  const stdout = new PassThrough();
  const io: Io = { ...processIo(), stdout: stdout as unknown as NodeJS.WriteStream };
  try {
    parseLeaf({ command, entry, rest: ['--help'], io });
  } catch (error) {
    expect((error as CommanderError).exitCode).toBe(0);
  }
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

  it('resolves every alias to a command or a group', () => {
    verifies('gw-plurals');
    for (const [alias, full] of Object.entries(aliases)) {
      const found = findCommand([alias]);
      expect(found.path.join(' ').startsWith(full), alias).toBe(true);
    }
    expect(findCommand(['units']).entry?.path).toBe('unit list');
    expect(findCommand(['invoices', '--status', 'created']).entry?.path).toBe('invoice list');
    expect(findCommand(['--url', 'http://x', '--json', 'invoice', 'get', 'ID']).rest).toEqual([
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
        const names = new Set([
          ...GLOBALS,
          ...allFlags(command).map(({ name }) => name),
          'unset',
          'idempotency-key',
        ]);
        for (const [, name = ''] of example
          .replace(/'[^']*'|"[^"]*"/g, 'x')
          .matchAll(/ --(?:no-)?([a-z-]+)/g))
          expect(names.has(name) || names.has(`no-${name}`), `${example}: --${name}`).toBe(true);
        const members = /--json ([a-z_,]+)/.exec(example)?.[1]?.split(',') ?? [];
        const known = fieldsOf(command);
        if (known.size > 0)
          for (const member of members) expect(known, `${example}: ${member}`).toContain(member);
      }
  });

  it('gives no flag of a command the name of a global one', () => {
    for (const { entry, command } of all) {
      const names = allFlags(command).map(({ name }) => name);
      expect(new Set(names).size, entry.path).toBe(names.length);
      if (entry.path !== 'login')
        expect(
          names.filter((name) => GLOBALS.includes(name)),
          entry.path,
        ).toEqual([]);
    }
  });

  it('documents each exit code once', () => {
    const codes = Object.values(exits).map(({ code }) => code);
    expect(codes).toEqual([0, 1, 2, 3, 4, 5, 6, 69, 75, 77, 78, 124, 130]);
    expect(new Set(codes).size).toBe(codes.length);
  });
});
