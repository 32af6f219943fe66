// Finds commands by their path.
import type { CommandEntry, Registry } from './command.ts';

/** Names below a path: commands and groups. */
export const childrenOf = ({ entries }: Registry, path: readonly string[]): string[] => {
  const prefix = path.length === 0 ? '' : `${path.join(' ')} `;
  const names = entries
    .filter((entry) => entry.path.startsWith(prefix))
    .map((entry) => entry.path.slice(prefix.length).split(' ')[0] ?? '');
  return [...new Set(names)];
};

export const entryAt = ({ entries }: Registry, path: readonly string[]): CommandEntry | undefined =>
  entries.find((entry) => entry.path === path.join(' '));
