// `gw login`: stores a sign-in in the profile: by password, key, token or identity provider.

import { listInvoices } from '../../src/api/endpoints/invoices.ts';
import { loginAccessToken, loginGoogle, loginTelegram } from '../../src/api/endpoints/login.ts';
import { getMerchantAccount } from '../../src/api/endpoints/merchant.ts';
import { getMe } from '../../src/api/endpoints/users.ts';
import { cleanText, withoutLineEnd } from '../../src/clean.ts';
import type { Command, Context, Own } from '../engine/command.ts';
import { GwError, usage } from '../engine/errors.ts';
import type { Flag } from '../engine/flag.ts';
import { readStdin, readText, say } from '../output/io.ts';
import { masked } from '../output/text.ts';
import { printObject } from '../output/view.ts';
import { signIn, storeToken } from './parts/session.ts';

const flag = (field: string, help: string, more: Partial<Flag> = {}): Flag => ({
  field,
  name: field.replaceAll('_', '-'),
  place: 'own',
  kind: 'text',
  help,
  ...more,
});

export const command: Command = {
  endpoints: [loginAccessToken, loginGoogle, loginTelegram, getMe, getMerchantAccount, listInvoices],
  makes_profile: true,
  args: ['email'],
  flags: [
    flag('email', 'email address of the account'),
    flag('password', 'its password', { secret: true }),
    flag('password_stdin', 'read the password from stdin', { kind: 'boolean' }),
    flag('api_key_stdin', 'store a merchant or platform key, read from stdin', { kind: 'boolean' }),
    flag('token_stdin', 'store an access token, read from stdin', { kind: 'boolean' }),
    flag('google_token', 'id token from Google', { secret: true }),
    flag('invite', 'the invite of the operator, for a first sign-in with Google', { secret: true }),
    flag('telegram_file', 'the data of the Telegram login widget, as JSON; - reads stdin', {
      value: 'path',
    }),
  ],
  about:
    'Signs a user in with a password, a token or an identity provider, and stores the token, which lasts 8 days, and the merchant key in the profile: in the keyring of the system (Secret Service by secret-tool, the keychain of macOS), else in a file that only its owner can read, as with GW_KEYRING=off. A key alone is enough for invoices.',
  fields: ['access_token', 'token_type', 'profile', 'url'],
  examples: [
    'gw login ada@example.com',
    'printf %s "$PASSWORD" | gw login ada@example.com --password-stdin --json',
    'printf %s "$KEY" | gw login --api-key-stdin',
  ],
  async run(context) {
    const { own: given } = await context.input();
    const { io } = context;
    const { api_key_stdin, token_stdin } = given;
    if (api_key_stdin === true) return storeKey(context, cleanText(await readStdin(io)));
    if (token_stdin === true) {
      const access_token = cleanText(await readStdin(io));
      await storeToken(context, access_token);
      return answer(context, { access_token, token_type: 'bearer' });
    }
    await answer(context, await viaProvider(context, given));
  },
};

const answer = async ({ io }: Context, reply: object): Promise<void> => {
  if (io.json !== false) printObject(io, { ...reply });
};

async function viaProvider(context: Context, given: Own): Promise<object> {
  const { google_token, telegram_file, invite } = given as Record<string, string | undefined>;
  if (google_token === undefined && telegram_file === undefined) return viaPassword(context, given);
  const reply =
    google_token === undefined
      ? await context.call(loginTelegram, { body: await telegramData(context, String(telegram_file)) })
      : await context.call(loginGoogle, {
          body: { id_token: google_token, ...(invite === undefined ? {} : { invite }) },
        });
  await storeToken(context, reply.access_token);
  return reply;
}

async function telegramData({ io }: Context, path: string): Promise<unknown> {
  try {
    return JSON.parse(await readText(path, io));
  } catch (error) {
    throw usage(`--telegram-file: ${(error as Error).message}`);
  }
}

async function viaPassword(context: Context, own: Own): Promise<object> {
  const { io } = context;
  const settings = await context.settings();
  const known = settings.get('email')?.value;
  const given = (own.email as string | undefined) ?? (io.prompts ? undefined : known);
  const secret =
    own.password_stdin === true ? withoutLineEnd(await readStdin(io)) : (own.password as string | undefined);
  if (!io.prompts && (given === undefined || secret === undefined))
    throw new GwError('usage', `missing: ${given === undefined ? '--email' : '--password-stdin'}`, {
      code: 'missing_input',
      hint: 'gw login --email ADDRESS --password-stdin, --api-key-stdin or --token-stdin; or GW_EMAIL and GW_PASSWORD in the environment',
    });
  const { input, password } = await import('@inquirer/prompts');
  const terminal = { output: io.stderr, input: io.stdin };
  const email =
    given ?? (await input({ message: 'Email address', default: known, required: true }, terminal));
  return signIn(context, email, secret ?? (await password({ message: 'Password', mask: true }, terminal)));
}

/** Stores a key that the service accepts. */
async function storeKey(context: Context, api_key: string): Promise<void> {
  const settings = await context.settings();
  if (!api_key) throw usage('no key on stdin');
  await context.callAs(listInvoices, { headers: { 'x-api-key': api_key } }, { query: { limit: 1 } });
  await settings.signIn({ api_key });
  say(
    context.io,
    `The key ${masked(api_key)} is stored for ${settings.url} (profile ${settings.profile.value})`,
  );
  if (context.io.json !== false)
    printObject(context.io, { profile: settings.profile.value, url: settings.url });
}
