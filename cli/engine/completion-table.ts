// What completion scripts know, from all commands: each of them is loaded, so the build does it once.
import { writeFileSync } from 'node:fs';
import { BUILT_TABLE } from '../built.ts';
import type { Registry } from './command.ts';
import type { Table } from './completion.ts';
import { type GlobalFlag, globalsOf, universal } from './globals.ts';
import { allFlags } from './input.ts';
import { childrenOf } from './registry.ts';

export async function writeTable(registry: Registry): Promise<void> {
  const { follow, values, valued } = await tableOf(registry);
  writeFileSync(BUILT_TABLE, JSON.stringify({ follow: [...follow], values: [...values], valued }));
}

export async function tableOf(registry: Registry): Promise<Table> {
  const { entries, aliases, groups } = registry;
  const follow = new Map<string, readonly string[]>();
  const values = new Map<string, readonly string[]>();
  const valued = new Set<string>();
  const switches = new Set<string>();
  const note = (name: string, hasValue: boolean) => (hasValue ? valued : switches).add(`--${name}`);
  for (const { path } of entries)
    for (const [index] of path.split(' ').entries()) {
      const group = path.split(' ').slice(0, index).join(' ');
      follow.set(group, childrenOf(registry, group === '' ? [] : group.split(' ')));
    }
  for (const { path, load } of entries) {
    const command = await load();
    const own = allFlags(command);
    const shared = globalsOf(command, own);
    for (const flag of own) {
      note(flag.name, flag.kind !== 'boolean');
      if (!flag.choices) continue;
      values.set(`${path} --${flag.name}`, flag.choices);
      const place = command.args?.indexOf(flag.field) ?? -1;
      if (place >= 0) values.set(`${path} #${place}`, flag.choices);
    }
    for (const flag of shared) note(flag.name, flag.value !== undefined && !flag.optional);
    follow.set(
      path,
      [...own, ...shared].map(({ name }) => `--${name}`),
    );
  }
  for (const { name, choices } of universal() as GlobalFlag[]) if (choices) values.set(`--${name}`, choices);
  const copy = (from: string, to: string) => {
    for (const map of [follow, values])
      for (const [key, list] of [...map])
        if (key === from || key.startsWith(`${from} `)) map.set(to + key.slice(from.length), list);
  };
  for (const [alias, noun] of Object.entries(aliases)) copy(noun, alias);
  // A noun that lists where no verb follows it takes the flags of its list.
  for (const noun of [
    ...Object.keys(aliases),
    ...Object.keys(groups).filter((name) => groups[name]?.lists),
  ]) {
    const flags = follow.get(`${noun} list`);
    if (!flags) continue;
    follow.set(noun, [...(follow.get(noun) ?? []), ...flags]);
    for (const [key, list] of [...values])
      if (key.startsWith(`${noun} list --`)) values.set(noun + key.slice(`${noun} list`.length), list);
  }
  follow.set('', [...(follow.get('') ?? []), ...Object.keys(aliases), 'help']);
  return { follow, values, valued: [...valued].filter((name) => !switches.has(name)) };
}
