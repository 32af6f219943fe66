// `gw setup`: what is needed before a first sale. Shows what is set, asks for the rest, and checks each answer as it is given.

import { listGateways } from '../../src/api/endpoints/buyer.ts';
import {
  getMerchantAccount,
  getMerchantWallets,
  setMerchantWallet,
  updateMerchantAccount,
} from '../../src/api/endpoints/merchant.ts';
import { createUnit, listUnits } from '../../src/api/endpoints/units.ts';
import { getMe, updateMe } from '../../src/api/endpoints/users.ts';
import { cleanText } from '../../src/clean.ts';
import type { Command, Context, Own } from '../engine/command.ts';
import { GwError, usage } from '../engine/errors.ts';
import type { Flag } from '../engine/flag.ts';
import { paint, print, say } from '../output/io.ts';
import { clean } from '../output/text.ts';
import { printObject } from '../output/view.ts';

/** One thing that is asked for. */
interface Step {
  name: string;
  /** As it is set now; null where it is not. */
  value: string | null;
  /** The command that sets it without questions. */
  command: string;
}

/** What is asked of a person for a step: the question, and how the answer is set. Rejects with what is wrong with it. */
interface Question {
  message: string;
  current: string;
  set(text: string): Promise<unknown>;
}

const flag = (name: string, help: string, more: Partial<Flag> = {}): Flag => ({
  field: name.replaceAll('-', '_'),
  name,
  place: 'own',
  kind: 'text',
  help,
  ...more,
});

export const command: Command = {
  endpoints: [
    getMe,
    getMerchantAccount,
    getMerchantWallets,
    listUnits,
    listGateways,
    setMerchantWallet,
    updateMe,
    updateMerchantAccount,
    createUnit,
  ],
  flags: [
    flag('wallet', 'receive addresses, as blockchain=address', { kind: 'list', value: 'blockchain=address' }),
    flag('name', 'what buyers read as the name of the shop'),
    flag('mail', 'your email address; a link is sent to it'),
    flag('webhook-url', 'which URL of your server gets confirmed payments'),
    flag('unit-title', 'title of a first unit'),
    flag('unit-price', 'its price in USD'),
  ],
  about:
    'Asks for wallets, name, email address, webhook and a first unit. Each answer is checked as it is given: a wallet by its checksum and on its chain. Enter leaves a thing as it is, so it can be run again at any time. Flags set what they name without questions; without a terminal it shows what is set, and the commands for the rest.',
  fields: ['ready', 'steps'],
  writes: true,
  examples: [
    'gw setup',
    'gw setup --wallet ton=ADDRESS,bitcoin=ADDRESS --name "My shop" --unit-title Coffee --unit-price 4.50',
    'gw setup --json',
  ],
  async run(context) {
    const { io } = context;
    const { own } = await context.input();
    const answers = givenIn(own);
    if (!context.globals.isOn('dry-run')) {
      if (answers.length > 0) for (const answer of answers) await answer(context);
      else if (io.prompts && io.json === false) await askAll(context);
    }
    const steps = await stepsOf(context);
    const ready = steps.every(({ value }) => value !== null);
    if (io.json !== false) return printObject(io, { ready, steps });
    for (const { name, value, command } of steps) {
      const mark = value === null ? paint(io, 'yellow', '-   ') : paint(io, 'green', 'set ');
      print(io, `${mark} ${name.padEnd(16)} ${clean(value ?? command)}`);
    }
    say(io, ready ? 'Everything is set. Check it with gw doctor.' : 'Not everything is set: gw setup');
  },
};

/** What the flags ask for, in order. */
function givenIn(own: Own): ((context: Context) => Promise<unknown>)[] {
  const text = (field: string): string | undefined =>
    typeof own[field] === 'string' ? own[field].trim() : undefined;
  const [name, mail, webhook, title, price] = ['name', 'mail', 'webhook_url', 'unit_title', 'unit_price'].map(
    text,
  );
  if ((title === undefined) !== (price === undefined))
    throw usage('a unit needs --unit-title and --unit-price');
  const given: ((context: Context) => Promise<unknown>)[] = [];
  for (const entry of (own.wallet ?? []) as string[]) {
    const [blockchain = '', address = ''] = cleanText(entry).split('=');
    if (!blockchain || !address) throw usage(`--wallet takes blockchain=address, not “${clean(entry)}”`);
    given.push((context) => setWallet(context, blockchain, address));
  }
  if (name !== undefined) given.push((context) => setName(context, name));
  if (mail !== undefined) given.push((context) => setMail(context, mail));
  if (webhook !== undefined) given.push((context) => setWebhook(context, webhook));
  if (title !== undefined && price !== undefined) given.push((context) => makeUnit(context, title, price));
  return given;
}

const setWallet = (context: Context, blockchain: string, address: string) =>
  context.call(setMerchantWallet, { body: { blockchain, address } });
const setName = (context: Context, full_name: string) => context.call(updateMe, { body: { full_name } });
const setMail = (context: Context, email: string) => context.call(updateMe, { body: { email } });
const setWebhook = (context: Context, webhook_url: string) =>
  context.call(updateMerchantAccount, { body: { webhook_url } });

/** A unit that takes what there are wallets for; everything where there are none yet. */
async function makeUnit(context: Context, title: string, amount_usd: string): Promise<void> {
  const { data } = await context.call(listGateways);
  const { wallets } = await context.call(getMerchantWallets);
  const paid = data.filter((gateway) => wallets.some(({ blockchain }) => blockchain === gateway.blockchain));
  const currencies = (paid.length > 0 ? paid : data).map(({ chain }) => chain);
  await context.call(createUnit, { body: { title, amount_usd, currencies } });
}

/** What is set, read from the service. */
async function stepsOf(context: Context): Promise<Step[]> {
  const me = await context.call(getMe);
  const account = await context.call(getMerchantAccount);
  const { wallets, missing } = await context.call(getMerchantWallets);
  const { units } = await context.call(listUnits);
  const [unit] = units;
  return [
    ...wallets.map(({ blockchain, address }) => ({
      name: `wallet ${blockchain}`,
      value: address,
      command: `gw wallet set ${blockchain} ADDRESS`,
    })),
    ...missing.map((blockchain) => ({
      name: `wallet ${blockchain}`,
      value: null,
      command: `gw wallet set ${blockchain} ADDRESS`,
    })),
    { name: 'name', value: me.full_name ?? null, command: 'gw user update-me --full-name NAME' },
    me.pending_email === undefined
      ? { name: 'mail', value: me.email, command: 'gw user update-me --email ADDRESS' }
      : {
          name: 'mail',
          value: null,
          command: `open the link that was sent to ${me.pending_email}, or: gw user send-confirmation`,
        },
    { name: 'webhook', value: account.webhook_url ?? null, command: 'gw account update --webhook-url URL' },
    {
      name: 'unit',
      value: unit ? `${unit.title}, ${unit.amount_usd} USD, ${unit.page_url}` : null,
      command: 'gw unit create --title TITLE --amount-usd PRICE --currencies CURRENCIES',
    },
  ];
}

async function askAll(context: Context): Promise<void> {
  const { askAndSet } = await import('../engine/prompts.ts');
  const { io } = context;
  const ask = ({ message, current, set }: Question): Promise<string> =>
    askAndSet(message, current, (text) => faultOf(set(text)), io);
  say(io, 'Press Enter to leave a value as it is. Each answer is checked as you give it.');
  const { wallets, missing } = await context.call(getMerchantWallets);
  const known = new Map(wallets.map(({ blockchain, address }) => [blockchain, address]));
  for (const blockchain of [...known.keys(), ...missing])
    await ask({
      message: `Wallet on ${blockchain} – your own receive address`,
      current: known.get(blockchain) ?? '',
      set: (text) => setWallet(context, blockchain, text),
    });
  const me = await context.call(getMe);
  await ask({
    message: 'Name – what buyers read as the name of the shop',
    current: me.full_name ?? '',
    set: (text) => setName(context, text),
  });
  if (me.source === 'email')
    await ask({
      message: 'Mail – your address; a new one counts once the link that is sent to it was opened',
      current: me.pending_email ?? me.email,
      set: (text) => setMail(context, text),
    });
  const account = await context.call(getMerchantAccount);
  await ask({
    message: 'Webhook – which URL of your server gets confirmed payments',
    current: account.webhook_url ?? '',
    set: (text) => setWebhook(context, text),
  });
  const { units } = await context.call(listUnits);
  if (units.length > 0) return;
  const { askText } = await import('../engine/prompts.ts');
  const title = await askText('First unit – its title, such as Coffee; Enter: none', io);
  if (title !== '')
    await ask({
      message: 'Its price in USD',
      current: '',
      set: (text) => makeUnit(context, title, text),
    });
}

/** What the service says against an answer; undefined where it took it. What is no refusal is thrown. */
const faultOf = (setting: Promise<unknown>): Promise<string | undefined> =>
  setting.then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof GwError && error.details.status != null) return error.message;
      throw error;
    },
  );
