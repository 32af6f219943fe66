// What `gw help TOPIC` knows besides commands.
import { exits } from './errors.ts';
import { type GlobalFlag, universal } from './globals.ts';

/** Variables that gw reads: those of the global flags, and others. */
export const environment = (): Record<string, string> => ({
  ...Object.fromEntries(
    universal().flatMap(({ variable, help }: GlobalFlag) => (variable ? [[variable, help]] : [])),
  ),
  GW_CONFIG_DIR: 'directory of the profiles',
  GW_KEYRING: 'off: credentials in the file of the profiles, not in the keyring of the system',
  GW_DEBUG: 'stack of an unexpected failure',
  NO_COLOR: 'no colours',
  CI: 'never prompt',
});

export const topics: Record<string, { summary: string; rows: () => Record<string, unknown>[] }> = {
  'exit-codes': {
    summary: 'what each exit code means',
    rows: () => Object.entries(exits).map(([kind, { code, means }]) => ({ code, kind, means })),
  },
  environment: {
    summary: 'variables that gw reads',
    rows: () => [
      ...Object.entries(environment()).map(([name, means]) => ({ name, means })),
      {
        name: 'GW_…',
        means: 'flags of a command: --external-ref is GW_EXTERNAL_REF; not the optional flags of an update',
      },
    ],
  },
};

export const isKnownTopic = (topic: string): boolean => Object.hasOwn(topics, topic);
