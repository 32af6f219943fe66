// What an operator sets who follows what doctor says of backups.
import { expect } from 'vitest';

/** The variables for the settings that these fixes name, which have to be all that backups need. */
export function backupAdvice(fixes: string, directory: string, passphrase: string): Record<string, string> {
  const values: Record<string, string> = {
    'backup.to': directory,
    'backup.passphrase': passphrase,
    'backup.every': '1d',
  };
  const named = [...fixes.matchAll(/\bset (backup\.\w+)/g)].map(([, name = '']) => name);
  expect(named.sort()).toEqual(Object.keys(values).sort());
  return Object.fromEntries(
    named.map((name) => [`GATEWAYD_${name.toUpperCase().replace('.', '_')}`, values[name] ?? '']),
  );
}
