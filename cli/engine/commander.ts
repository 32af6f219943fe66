// A command line as commander reads it: every way to write a flag, and a sentence for what is wrong.
import { Command as Commander, Option } from 'commander';
import type { Command, CommandEntry, Registry } from './command.ts';
import { allFlags } from './input.ts';
import { collect, type LineOption, optionsOf, type Words } from './options.ts';
import { childrenOf } from './registry.ts';

const quiet = (name: string): Commander =>
  new Commander(name)
    .exitOverride()
    .helpCommand(false)
    .configureOutput({ writeErr: () => {} });

function optionOf({ term, help, choices, repeatable }: LineOption): Option {
  const option = new Option(term, help);
  if (choices) option.choices([...choices]);
  if (repeatable) option.argParser(collect);
  return option;
}

/** Throws commander's error for what is wrong. */
export function readWords(words: readonly string[], command: Command, entry: CommandEntry): Words {
  const leaf = quiet(`gw ${entry.path}`).helpOption(false).allowExcessArguments();
  for (const option of optionsOf(command, allFlags(command))) leaf.addOption(optionOf(option));
  for (const field of command.args ?? []) leaf.argument(`[${field}]`);
  leaf.parse([...words], { from: 'user' });
  return { options: leaf.opts(), args: leaf.args };
}

/** Throws its error for a word that is no command below a path, with the nearest that is one. */
export function refuseWord(word: string, registry: Registry, path: readonly string[]): void {
  const group = quiet(['gw', ...path].join(' '));
  for (const child of childrenOf(registry, path)) group.command(child).action(() => {});
  group.parse([word], { from: 'user' });
}
