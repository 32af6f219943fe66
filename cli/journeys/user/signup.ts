// `gw signup`: an account, and the sign-in to it.

import { getPublicConfig } from '../../../src/api/endpoints/buyer.ts';
import { loginAccessToken } from '../../../src/api/endpoints/login.ts';
import { signup } from '../../../src/api/endpoints/users.ts';
import { cleanText } from '../../../src/clean.ts';
import type { Command, Context } from '../../engine/command.ts';
import { GwError } from '../../engine/errors.ts';
import { say } from '../../output/io.ts';
import { printReply } from '../../output/view.ts';
import { signIn } from '../parts/session.ts';

export const command: Command = {
  endpoints: [signup, loginAccessToken, getPublicConfig],
  makes_profile: true,
  input: signup,
  flags: [
    {
      field: 'login',
      name: 'login',
      place: 'own',
      kind: 'boolean',
      help: 'sign in as well (--no-login to skip it)',
    },
  ],
  examples: [
    'gw signup --email ada@example.com',
    'gw signup --email ada@example.com --invite TOKEN',
    'printf %s "$PASSWORD" | gw signup --email ada@example.com --password - --json',
  ],
  async run(context) {
    const mode = await modeForPerson(context);
    const { input, own } = await context.input();
    if (mode === 'invite' && !input.body.invite) {
      const { askText } = await import('../../engine/prompts.ts');
      const typed = await askText('invite – the token that the operator sent you', context.io);
      input.body.invite = cleanText(typed);
    }
    if (context.globals.isOn('dry-run')) return context.showRequest(signup, input);
    const user = await context.call(signup, input);
    if (own.login !== false) await signIn(context, user.email, String(input.body.password));
    await printReply(context.io, user);
    if (own.login !== false && context.io.json === false)
      say(context.io, 'Next: gw setup asks where you are paid');
    if (user.pending_email !== undefined)
      say(
        context.io,
        `A link was sent to ${user.pending_email}: open it to confirm the address. Again: gw user send-confirmation`,
      );
  },
};

/** Who may sign up, before a person is asked for a password; a program reads the refusal itself. */
async function modeForPerson(context: Context): Promise<string | undefined> {
  if (!context.io.prompts || context.globals.isOn('dry-run')) return undefined;
  const { signup: mode } = await context.call(getPublicConfig);
  if (mode === 'closed')
    throw new GwError('auth', 'sign-up is closed on this deployment', {
      code: 'signup_closed',
      wants_remedy: true,
    });
  if (mode === 'invite') say(context.io, 'Sign-up needs an invite from the operator (--invite TOKEN).');
  return mode;
}
