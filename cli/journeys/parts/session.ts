// Storing a sign-in: the token with the account's key in the profile, checked before it is stored.
import type { CallReply } from '../../../src/api/client/call.ts';
import { loginAccessToken } from '../../../src/api/endpoints/login.ts';
import { getMerchantAccount } from '../../../src/api/endpoints/merchant.ts';
import { getMe } from '../../../src/api/endpoints/users.ts';
import type { Context } from '../../engine/command.ts';
import { say } from '../../output/io.ts';

type Token = CallReply<typeof loginAccessToken>;

/** Signs in with a password and stores the token; the API's answer. */
export async function signIn(context: Context, email: string, password: string): Promise<Token> {
  const reply = await context.call(loginAccessToken, { body: { username: email, password } });
  await storeToken(context, reply.access_token);
  return reply;
}

/** Stores a token after asking whose it is, and the merchant key of that account. */
export async function storeToken(context: Context, token: string): Promise<void> {
  const settings = await context.settings();
  const headers = { headers: { authorization: `Bearer ${token}` } };
  const me = await context.callAs(getMe, headers);
  const account = await context.callAs(getMerchantAccount, headers);
  await settings.signIn({ token, api_key: account.api_key, email: me.email });
  say(context.io, `Signed in as ${me.email} at ${settings.url} (profile ${settings.profile.value})`);
}
