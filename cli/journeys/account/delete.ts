// `gw account delete`: says what goes and what stays, offers the export, asks for the password, and deletes the account.
import { loginAccessToken } from '../../../src/api/endpoints/login.ts';
import { exportAccount, getBalances } from '../../../src/api/endpoints/merchant.ts';
import { deleteMe, getMe } from '../../../src/api/endpoints/users.ts';
import type { Command, Context } from '../../engine/command.ts';
import { say } from '../../output/io.ts';
import { clean } from '../../output/text.ts';
import { printReply } from '../../output/view.ts';
import { exportTo } from './export.ts';

export const command: Command = {
  endpoints: [deleteMe, getMe, getBalances, loginAccessToken, exportAccount],
  input: deleteMe,
  about: `Deletes the signed-in user with the merchant account. At once: tokens and key end; name, email address, password,
wallets, webhook address and units are erased, and the address is free for a new account.

What stays are the books, without the identity: invoices, payments, transfers, income and ledger. Open invoices run to their
end, and what is paid for them goes to the wallets that they show; no webhook is sent to the account's address any more. What is
left of the prepaid balance is not paid out: settle that with the operator before.

A person is offered \`gw account export\` first and asked for the password; \`--yes\` asks nothing.`,
  examples: ['gw account delete', 'gw account delete --yes --json'],
  async run(context) {
    const { input } = await context.input();
    if (context.globals.isOn('dry-run')) return context.showRequest(deleteMe, input);
    if (context.io.prompts && !context.globals.isOn('yes')) await prepare(context);
    else await context.confirm('Delete the account?');
    const reply = await context.call(deleteMe, input);
    await (await context.settings()).write({ token: undefined, api_key: undefined });
    await printReply(context.io, reply);
  },
};

/** What a person reads and answers before anything is deleted; throws where that is declined. */
async function prepare(context: Context): Promise<void> {
  const { io } = context;
  const user = await context.call(getMe);
  const [prepaid] = await context.call(getBalances);
  say(io, clean(`This deletes ${user.email} with its wallets, units and key. Invoices and ledger stay.`));
  if (/[1-9]/.test(prepaid?.amount ?? ''))
    say(io, clean(`The prepaid balance of ${prepaid?.amount} USD is not paid out.`));
  const { agree, askPassword } = await import('../../engine/prompts.ts');
  if (await agree('Export everything into a file first?', undefined, io, true)) {
    const { path } = await exportTo(context, { format: 'json' });
    say(io, `The export is in ${path}`);
  }
  if (user.source === 'email') {
    const password = await askPassword('Password of this account', io);
    await context.call(loginAccessToken, { body: { username: user.email, password } });
  }
  await context.confirm('Delete the account for good?', 'delete');
}
