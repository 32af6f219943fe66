// `gw dev`: a sandbox in one terminal: a daemon in demo mode, a receiver of its webhooks, and a buyer at the keys.
import type { Command, Context } from '../engine/command.ts';
import { GwError, usage } from '../engine/errors.ts';
import { type Io, paint, print, printJsonLine, say } from '../output/io.ts';
import { showWaiting } from '../output/progress.ts';
import { clean } from '../output/text.ts';
import { shortId } from '../output/value.ts';
import { pick } from '../output/view.ts';
import { type Delivery, isTaken } from '../sandbox/receiver.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { isLive } from './parts/live.ts';
import { receiverAt } from './parts/receiver.ts';

const DEFAULT_PORT = 4020;
const MAX_PORT = 65_535;

export const command: Command = {
  endpoints: [],
  makes_profile: true,
  args: ['forward_to'],
  flags: [
    {
      field: 'forward_to',
      name: 'forward-to',
      place: 'own',
      kind: 'text',
      value: 'url',
      help: 'your server for webhooks: 4242, localhost:3000/hooks or a full URL; without it they are answered here',
    },
    {
      field: 'port',
      name: 'port',
      place: 'own',
      kind: 'text',
      value: 'port',
      help: `port of the daemon; 0 takes a free one (default: ${DEFAULT_PORT})`,
    },
    {
      field: 'data_dir',
      name: 'data-dir',
      place: 'own',
      kind: 'text',
      value: 'path',
      help: 'a directory that stays; by default all is gone at the end',
    },
    {
      field: 'record',
      name: 'record',
      place: 'own',
      kind: 'text',
      value: 'dir',
      help: 'write what each key and trigger made happen to DIR/KIND.json, for tests; gw listen --replay posts it again',
    },
  ],
  about:
    'Starts `gatewayd` on testnet in demo mode with a merchant, a wallet and a webhook, on a chain of its own: nothing leaves this machine, and no coin exists. Keys make invoices, pay them rightly and wrongly, let them expire, and answer webhooks with 500. What happens then is not simulated: the daemon reads the chain, matches and settles as everywhere. `gw --profile dev …` reaches it from another terminal, and `gw trigger` makes the same things happen without a screen. Without a terminal, or with --json, it prints a line for each webhook.',
  fields: ['ready', 'delivery'],
  examples: ['gw dev', 'gw dev localhost:3000/hooks', 'gw dev --record fixtures', 'gw dev --port 0 --json'],
  stream: true,
  async run(context) {
    const { own } = await context.input();
    const { io, signal } = context;
    const forward_to = own.forward_to === undefined ? undefined : receiverAt(String(own.forward_to));
    const data_dir = own.data_dir === undefined ? undefined : String(own.data_dir);
    const record_dir = own.record === undefined ? undefined : String(own.record);
    const port = portOf(own.port);
    const [{ announce, requireFree }, { openSandbox }] = await Promise.all([
      import('../sandbox/profile.ts'),
      import('../sandbox/sandbox.ts'),
    ]);
    await requireFree(context);
    const hasCome = showWaiting(io, 'starting gatewayd');
    let deliver = (_: Delivery): void => {};
    const onDeliveries = (listen: (delivery: Delivery) => void) => {
      deliver = listen;
    };
    const onDelivery = (delivery: Delivery) => deliver(delivery);
    const sandbox = await openSandbox({
      ...{ data_dir, port, forward_to, record_dir, env: io.env, signal, onDelivery },
    });
    hasCome();
    const { name, remove } = await announce(context, sandbox);
    process.on('exit', remove);
    try {
      if (isLive(io, own)) {
        const { devScreen } = await import('../screens/dev.tsx');
        await devScreen(context, { sandbox, name, forward_to, record_dir, onDeliveries });
      } else await printDeliveries(context, sandbox, name, onDeliveries);
    } finally {
      process.off('exit', remove);
      await remove();
      sandbox.close();
    }
  },
};

function portOf(given: unknown): number {
  const port = given === undefined ? DEFAULT_PORT : Number(given);
  if (Number.isInteger(port) && port >= 0 && port <= MAX_PORT) return port;
  throw usage(`--port takes a number from 0 to ${MAX_PORT}, not “${String(given)}”`);
}

/** A line for each webhook, until the daemon ends. */
async function printDeliveries(
  { io }: Context,
  sandbox: Sandbox,
  profile: string,
  listenTo: (listen: (delivery: Delivery) => void) => void,
): Promise<void> {
  const { url, api_key, webhook_secret } = sandbox;
  const printMembers = (members: Record<string, unknown>) =>
    printJsonLine(io, Array.isArray(io.json) ? pick(members, io.json, 'none') : members);
  listenTo((delivery) => {
    if (io.json !== false) printMembers({ delivery });
    else printDelivery(io, delivery);
  });
  if (io.json !== false) printMembers({ ready: { url, api_key, webhook_secret, profile } });
  else {
    print(io, `url      ${url}`);
    print(io, `key      ${api_key}`);
    print(io, `secret   ${webhook_secret}`);
    say(io, `From another terminal: gw --profile ${profile} invoice list, gw trigger --list; Ctrl-C ends`);
  }
  const code = await sandbox.ended;
  throw new GwError('general', `gatewayd ended with ${code}`);
}

function printDelivery(
  io: Io,
  { type, external_ref, invoice_id, status, duration_ms, error, ...at }: Delivery,
): void {
  const isGood = isTaken({ status });
  const about = [
    new Date(at.at_ms).toISOString(),
    type,
    external_ref ?? '',
    invoice_id === null ? '' : `invoice ${shortId(invoice_id)}`,
  ].filter((part) => part !== '');
  const answer = paint(io, isGood ? 'green' : 'red', String(status));
  print(
    io,
    `${about.map(clean).join('  ')}  → ${answer}  ${duration_ms} ms${error === null ? '' : `  ${clean(error)}`}`,
  );
}
