// The runbook: nothing that can go wrong is without its section, and every command in it exists.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { openRegistry } from '../../cli/commands.ts';
import { readWords } from '../../cli/engine/commander.ts';
import { entryAt } from '../../cli/engine/registry.ts';
import { subjects } from '../../daemon/doctor/finding.ts';
import { commandLine } from '../../daemon/main.ts';
import { causes, commandOf } from '../../daemon/notify/causes.ts';
import { endCauses, noticeCauses } from '../../daemon/notify/names.ts';
import { EXIT } from '../../daemon/process/failure.ts';
import { alertRules, alerts } from '../../daemon/runbook/alerts.ts';
import { runbookPage } from '../../daemon/runbook/page.tsx';
import { FIRST, type Section, sections } from '../../daemon/runbook/sections.ts';
import { runbookText } from '../../daemon/runbook/text.ts';
import { verifies } from '../requirements.ts';

/** What is named by sections, once for each section that names it. */
const named = (kind: 'notices' | 'alerts' | 'exits' | 'doctor'): string[] =>
  sections.flatMap((section) => [...(section[kind] ?? [])]);

/** Exit codes that the sources set, by number. */
function exitCodes(): string[] {
  const sources = ['daemon', 'bin'].flatMap((room) =>
    readdirSync(room, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(tsx?|js)$/.test(entry.name))
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8')),
  );
  const written = sources.flatMap((source) =>
    [...source.matchAll(/\bEXIT_[A-Z]+ = (\d+)|\bprocess\.exit(?:Code = |\()(\d+)/g)].map(
      ([, constant, literal]) => constant ?? literal ?? '',
    ),
  );
  return [...new Set([...written, ...Object.values(EXIT).map(String)])];
}

describe('a section of the runbook', () => {
  test.each([
    ['notices', [...noticeCauses]],
    ['alerts', alerts.map(({ name }) => name)],
    ['doctor', [...subjects]],
    // Of signals all codes have one.
    ['exits', [...exitCodes(), '128']],
  ] as const)('is there for each of %s, and for nothing else', (kind, all) => {
    verifies('runbook');
    expect(all.length).toBeGreaterThan(5);
    expect(named(kind).sort()).toEqual([...new Set(all)].sort());
  });

  test('has an address that links can have, one of its own, and leaves nothing out', () => {
    verifies('runbook');
    const anchors = sections.map(({ anchor }) => anchor);
    expect(new Set(anchors).size).toBe(anchors.length);
    const page = Buffer.from(runbookPage().body).toString();
    for (const { anchor, title, means, steps } of sections) {
      expect(anchor).toMatch(/^[a-z][a-z0-9-]*$/);
      expect(page).toContain(`id="${anchor}"`);
      expect(page).toContain(`href="#${anchor}"`);
      expect(runbookText(anchor)).toContain(title);
      expect(means.length).toBeGreaterThan(20);
      expect(steps.length).toBeGreaterThan(0);
    }
    expect(runbookText('not-there')).toBeUndefined();
    expect(page).not.toContain('`');
  });

  test('is where the rule of each alert leads', () => {
    verifies('alert-rules');
    const rules = alertRules('https://pay.example/shop');
    const anchors = [...rules.matchAll(/runbook_url: "https:\/\/pay\.example\/shop\/guides\/run#(.*)"/g)].map(
      ([, anchor = '']) => anchor,
    );
    expect(anchors).toHaveLength(alerts.length);
    for (const anchor of anchors) expect(sections.map((one) => one.anchor)).toContain(anchor);
    for (const { name } of alerts) expect(rules).toContain(`- alert: ${name}\n`);
  });
});

/** Commands in backticks that begin with one of our programs. */
function commandsIn(texts: readonly string[]): string[] {
  const quoted = texts.flatMap((text) => {
    expect(text.split('`').length % 2, `backticks of: ${text}`).toBe(1);
    return text.split('`').filter((_, at) => at % 2 === 1);
  });
  return quoted.filter((text) => /^(gw|gatewayd) /.test(text));
}

const textsOf = ({ means, steps, never = [] }: Section): string[] => [means, ...steps, ...never];

const ofDaemon = (): Command => commandLine();
const registry = await openRegistry();

/** Why a command line of the daemon would be refused; null where it would not. */
function refusalOfDaemon(words: readonly string[]): string | null {
  let command = ofDaemon();
  let at = 0;
  for (; at < words.length; at++) {
    const next = command.commands.find((each) => each.name() === words[at]);
    if (!next) break;
    command = next;
  }
  if (at === 0) return `gatewayd has no command ${words[0]}`;
  // Flags of settings are made when they are needed.
  command.configureOutput({ writeOut: () => {} }).outputHelp();
  let arguments_left = command.registeredArguments.some(({ variadic }) => variadic)
    ? Number.POSITIVE_INFINITY
    : command.registeredArguments.length;
  const rest = words.slice(at);
  for (let n = 0; n < rest.length; n++) {
    const word = rest[n] ?? '';
    if (word.startsWith('-')) {
      const option = command.options.find(({ long, short }) => long === word || short === word);
      if (!option) return `gatewayd ${command.name()} has no ${word}`;
      if (option.required) n++;
    } else if (--arguments_left < 0) return `gatewayd ${command.name()} takes no ${word}`;
  }
  return null;
}

async function refusalOfGw(words: readonly string[]): Promise<string | null> {
  const length = [...words.keys()].reverse().find((n) => entryAt(registry, words.slice(0, n + 1)));
  if (length === undefined) return `gw has no command ${words.join(' ')}`;
  const path = words.slice(0, length + 1);
  const entry = entryAt(registry, path);
  if (!entry) return `gw has no command ${path.join(' ')}`;
  try {
    readWords(words.slice(length + 1), await entry.load(), entry);
    return null;
  } catch (error) {
    return `gw ${words.join(' ')}: ${(error as Error).message}`;
  }
}

async function refusalOf(command: string): Promise<string | null> {
  const [program, ...words] = command.split(' ');
  return program === 'gatewayd' ? refusalOfDaemon(words) : refusalOfGw(words);
}

test('every command that the runbook or a notice names exists, with its flags', async () => {
  verifies('runbook');
  const commands = [
    ...commandsIn([...FIRST, ...sections.flatMap(textsOf)]),
    ...noticeCauses.map(commandOf),
    ...sections.map(({ anchor }) => `gatewayd help runbook ${anchor}`),
  ];
  expect(commands.length).toBeGreaterThan(50);
  const refusals = await Promise.all([...new Set(commands)].map(refusalOf));
  expect(refusals.filter((one) => one !== null)).toEqual([]);
  // The check finds what does not exist.
  for (const wrong of [
    'gatewayd repair',
    'gatewayd verify --laws',
    'gw admin nothing',
    'gw admin events --lost',
  ])
    expect(await refusalOf(wrong), wrong).not.toBeNull();
});

test('only what is over has nothing to do', () => {
  const ends = causes.flatMap(({ end }) => end?.name ?? []);
  for (const end of ends) expect(endCauses).toContain(end);
});
