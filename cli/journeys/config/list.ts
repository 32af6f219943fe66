// `gw config list`: the settings in force and where each is from.
import type { Command } from '../../engine/command.ts';
import { isSecret, profileKeys } from '../../engine/profile.ts';
import { masked } from '../../output/text.ts';
import { printReply } from '../../output/view.ts';

export const command: Command = {
  endpoints: [],
  about:
    'Flags override the environment, which overrides the profile, which overrides the defaults. Secrets are masked.',
  fields: ['key', 'value', 'origin'],
  examples: ['gw config list', 'gw config list --json'],
  async run({ settings, io }) {
    const known = await settings();
    const rows = profileKeys.flatMap((key) => {
      const setting = known.get(key);
      return setting
        ? [{ key, ...setting, value: isSecret(key) ? masked(setting.value) : setting.value }]
        : [];
    });
    await printReply(io, [{ key: 'profile', ...known.profile }, ...rows]);
  },
};
