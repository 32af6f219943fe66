// `gw config set`: stores a setting in the profile.
import { cleanText } from '../../../src/clean.ts';
import type { Command } from '../../engine/command.ts';
import { GwError, usage } from '../../engine/errors.ts';
import { isSecret, type ProfileKey, profileKeys } from '../../engine/profile.ts';
import { readStdin, say } from '../../output/io.ts';
import { printObject } from '../../output/view.ts';
import { keyFlag } from '../parts/key-flag.ts';

export const command: Command = {
  endpoints: [],
  makes_profile: true,
  args: ['key', 'value'],
  flags: [
    keyFlag(profileKeys),
    {
      field: 'value',
      name: 'value',
      place: 'own',
      kind: 'text',
      required: true,
      help: 'its value; - reads stdin, best for secrets',
    },
  ],
  fields: ['key', 'profile'],
  examples: [
    'gw config set url https://pay.example.com',
    'printf %s "$KEY" | gw config set api_key - --json',
  ],
  async run(context) {
    const { own } = await context.input();
    const { io } = context;
    const known = await context.settings();
    const key = String(own.key) as ProfileKey;
    const value = cleanText(own.value === '-' ? await readStdin(io) : String(own.value));
    if (key === 'url' && !/^https?:$/.test(URL.canParse(value) ? new URL(value).protocol : ''))
      throw usage(`“${value}” is not an http or https address`);
    const { profile, home } = known;
    if (key === 'url' && known.holds && new URL(value).origin !== home)
      throw new GwError('conflict', `the profile ${profile.value} holds keys for ${home}`, {
        code: 'foreign_credential',
        hint: `gw logout first, or another profile: gw config set url ${value} --profile NAME`,
      });
    if (key === 'api_key' || key === 'token') await known.signIn({ [key]: value });
    else await known.write({ [key]: value });
    say(io, `${key} is ${isSecret(key) ? 'stored' : value} in the profile ${profile.value}`);
    if (io.json !== false) printObject(io, { key, profile: profile.value });
  },
};
