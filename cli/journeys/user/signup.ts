// `gw signup`: an account, and the sign-in to it.
import { loginAccessToken } from '../../../src/api/endpoints/login.ts';
import { signup } from '../../../src/api/endpoints/users.ts';
import type { Command } from '../../engine/command.ts';
import { printReply } from '../../output/view.ts';
import { signIn } from '../parts/session.ts';

export const command: Command = {
  endpoints: [signup, loginAccessToken],
  input: signup,
  flags: [
    {
      field: 'login',
      name: 'login',
      place: 'own',
      kind: 'boolean',
      help: 'sign in too (--no-login to skip it)',
    },
  ],
  examples: [
    'gw signup --email ada@example.com',
    'printf %s "$PASSWORD" | gw signup --email ada@example.com --password - --json',
  ],
  async run(context) {
    const { input, own } = await context.input();
    if (context.globals.isOn('dry-run')) return context.showRequest(signup, input);
    const user = await context.call(signup, input);
    if (own.login !== false) await signIn(context, user.email, String(input.body.password));
    await printReply(context.io, user);
  },
};
