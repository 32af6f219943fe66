// What a minute costs on each network: the daemon itself, on a clock of its own, reads models at the pace that the networks have, from
// hosts with the names and caps of its defaults. Requests and calls are counted where the network would be.
import type { Blockchain } from '../../src/chains/catalogue.ts';
import { blockchains, builtIn, tickers } from '../../src/chains/gateways.ts';
import { merchantOf } from '../helpers/people.ts';
import type { Front, ModelRequest } from '../simulator/chains/front.ts';
import { Daemon } from '../simulator/daemon.ts';
import { Network } from '../simulator/network.ts';
import { Random } from '../simulator/random.ts';
import { openFileStore } from '../simulator/store.ts';
import { World } from '../simulator/world.ts';
import { asHostOf, type Cap, capsOf, openModel } from './default-hosts.ts';
import { atMost, say } from './measure.ts';

const START_MS = 1_800_000_000_000;
/** Until what is asked at a start has been asked, and a pace was measured. */
const WARM_UP_SECONDS = 400;
const REST_SECONDS = 300;
/** From its creation to after its end. */
const INVOICE_SECONDS = 330;
const INVOICE_TTL_SECONDS = 300;
/** How often a page asks. */
const PAGE_SECONDS = 3;
/** So long no provider answers, and so long the catching up is watched. */
const OUTAGE_SECONDS = 600;
/** So many payments come meanwhile, one after the other. */
const PAYMENTS = 60;
const PAID_ATOMIC = 10_000_000n;
const CATCH_UP_SECONDS = 240;
const MINUTE = 60;

/** One request, with what it asked. */
interface Asked {
  at_ms: number;
  host: string;
  methods: readonly string[];
}

const states = ['at rest', 'one open invoice', 'its page open', 'catching up'] as const;
type State = (typeof states)[number];
interface Span {
  asked: readonly Asked[];
  seconds: number;
}
type Measured = Record<State, Span>;

/** `NETWORKS=ton,base` measures some of them. */
const chosen = process.env.NETWORKS?.split(',');

export async function benchMinutes(): Promise<void> {
  const all: [Blockchain, Measured][] = [];
  for (const blockchain of blockchains.filter(({ id }) => chosen?.includes(id) ?? true))
    all.push([blockchain, await measure(blockchain)]);
  const print = (lines: readonly string[]) => console.log(lines.join('\n'));
  say('calls a minute; while catching up after ten minutes without a provider, those of the busiest minute');
  print([row('network', 'request', ...states), row('---', '---', ...states.map(() => '---:'))]);
  for (const [blockchain, measured] of all) print(callRows(blockchain, measured));
  say('shares of what each default host allows, in the busiest stretch of time that its cap is of');
  const shares = all.flatMap(([blockchain, measured]) => sharesOf(blockchain, measured));
  print([
    row('network', 'host', 'it allows', ...states),
    row('---', '---', '---', ...states.map(() => '---:')),
    ...shares.map(({ name, host, allows, used }) =>
      row(name, host, allows, ...states.map((state) => `${(100 * used[state]).toFixed(0)} %`)),
    ),
  ]);
  for (const { name, host, cap, used } of shares)
    for (const state of states)
      if (cap !== null && isOfState(cap, state))
        atMost(`${name}: share of ${cap.most} ${cap.of} of ${host}, ${state}`, [used[state]], 1);
}

const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

async function measure({ id, requests_per_second, providers }: Blockchain): Promise<Measured> {
  const world = new World(START_MS);
  const random = new Random(`minutes ${id}`);
  const network = new Network(world, random.fork('network'));
  const model = openModel({ id, world, random: random.fork('chain') });
  const asked: Asked[] = [];
  const urls = providers.mainnet.map(({ url }) => url);
  const hosts = urls.map((url) => {
    const { host } = new URL(url);
    return network.addProvider(
      host,
      counted(host, model.front, (methods) => asked.push({ at_ms: world.now_ms, host, methods })),
    );
  });
  const store = openFileStore();
  const daemon = new Daemon({
    world,
    network,
    random: random.fork('daemon'),
    name: 'daemon',
    database_url: store.url,
    settings: settingsOf(id, { urls, requests_per_second, network: model.network }),
    clockError: () => 0,
    dies: () => false,
    onDeath: () => {},
    onCommit: () => {},
    onError: (line) => {
      // While no provider answers, that is what it says.
      if (line.alert !== 'blind') throw new Error(`${id}: ${JSON.stringify(line)}`);
    },
  });
  const span = async (seconds: number): Promise<Span> => {
    asked.length = 0;
    await world.runUntil(world.now_ms + 1_000 * seconds);
    return { asked: [...asked], seconds };
  };
  const within = <T>(work: Promise<T>) => driven(world, work);
  await within(daemon.start());
  if (!daemon.app) throw new Error('the daemon did not start');
  const { key } = await within(merchantOf(daemon.app, 'merchant@example.com', { [id]: model.wallet }));
  const [chain = ''] = chainsOf(id);
  const sell = async () => {
    const reply = await within(daemon.fetch('POST', '/v1/invoices', { key }, { chain, amount: '10' }));
    if (reply === 'lost' || reply.status !== 200) throw new Error(`${id}: ${JSON.stringify(reply)}`);
    return reply.json.id as string;
  };
  // Its wallet is watched from its first invoice on.
  await sell();
  await span(WARM_UP_SECONDS);
  const rest = await span(REST_SECONDS);
  await sell();
  const open = await span(INVOICE_SECONDS);
  const shown = await sell();
  const callOff = watchPage(world, () => void daemon.fetch('GET', `/v1/invoices/${shown}`));
  const watched = await span(INVOICE_SECONDS);
  callOff();
  await span(MINUTE);
  for (const host of hosts) host.down_until_ms = world.now_ms + 1_000 * OUTAGE_SECONDS;
  for (let paid = 0; paid < PAYMENTS; paid++) {
    model.pay(PAID_ATOMIC + BigInt(paid));
    await span(OUTAGE_SECONDS / PAYMENTS);
  }
  const behind = await span(CATCH_UP_SECONDS);
  await within(daemon.stop());
  await store.close();
  return { 'at rest': rest, 'one open invoice': open, 'its page open': watched, 'catching up': behind };
}

/** Whatever it waits for, time brings it. */
async function driven<T>(world: World, work: Promise<T>): Promise<T> {
  let is_done = false;
  const done = work.finally(() => {
    is_done = true;
  });
  done.catch(() => {});
  await world.rest();
  while (!is_done) await world.runUntil(world.now_ms + 1);
  return done;
}

function watchPage(world: World, ask: () => void): () => void {
  let callOff = () => {};
  const again = () => {
    ask();
    callOff = world.after(1_000 * PAGE_SECONDS, again);
  };
  again();
  return () => callOff();
}

const chainsOf = (id: string): string[] =>
  builtIn.values.filter(({ blockchain }) => blockchain === id).map(({ chain }) => chain);

function settingsOf(
  id: string,
  { urls, requests_per_second, network }: { urls: string[]; requests_per_second: number; network: string },
): Record<string, string | boolean> {
  const settings: Record<string, string | boolean> = {
    network,
    public_url: 'https://pay.example',
    'rates.source': 'fixed',
    [`blockchains.${id}.urls`]: urls.join(','),
    [`blockchains.${id}.requests_per_second`]: String(requests_per_second),
  };
  for (const ticker of tickers) settings[`rates.usd.${ticker}`] = '1';
  for (const { chain, blockchain } of builtIn.values) {
    settings[`gateways.${chain}.enabled`] = blockchain === id;
    settings[`gateways.${chain}.payment_ttl_seconds`] = String(INVOICE_TTL_SECONDS);
  }
  return settings;
}

/** As the host answers, once it was noted what it was asked. */
function counted(host: string, front: Front, note: (methods: readonly string[]) => void): Front {
  const answer = asHostOf(host, front);
  return (request) => {
    note(methodsOf(request));
    return answer({ ...request, path: pathOf(request) });
  };
}

/** Below the path that the model answers at. */
const pathOf = ({ path }: ModelRequest): string => path.replace(/^\/(?:api\/v3|api|jsonrpc|rpc)(?=\/|$)/, '');

/** What is named in a path is no method of its own. */
const NAMED = /(?<=\/)(?:[0-9a-f]{64}|\d+)(?=\/|$)/g;

function methodsOf(request: ModelRequest): string[] {
  const calls = [JSON.parse(request.body ?? 'null') as { method?: unknown } | null].flat();
  const named = calls.flatMap((call) => (typeof call?.method === 'string' ? [call.method] : []));
  const path = pathOf(request).replace(NAMED, '…');
  return path.length > 1 ? [path] : named;
}

const callsIn = (asked: readonly Asked[]): string[] => asked.flatMap(({ methods }) => methods);
const perMinute = ({ asked, seconds }: Span, count: (asked: readonly Asked[]) => number): number =>
  (count(asked) * MINUTE) / seconds;

/** The most that `count` finds in any stretch of so many seconds. */
function busiest({ asked }: Span, seconds: number, count: (asked: readonly Asked[]) => number): number {
  let most = 0;
  for (const [first, { at_ms }] of asked.entries()) {
    const end = asked.findIndex((each, at) => at > first && each.at_ms >= at_ms + 1_000 * seconds);
    most = Math.max(most, count(asked.slice(first, end < 0 ? undefined : end)));
  }
  return most;
}

const shown = (value: number): string => (value === 0 ? '–' : value.toFixed(value < 10 ? 1 : 0));
const minuteOf = (state: State, span: Span, count: (asked: readonly Asked[]) => number): number =>
  state === 'catching up' ? busiest(span, MINUTE, count) : perMinute(span, count);

function callRows({ name }: Blockchain, measured: Measured): string[] {
  const methods = [...new Set(states.flatMap((state) => callsIn(measured[state].asked)))].sort();
  const line = (what: string, count: (asked: readonly Asked[]) => number) =>
    row(name, what, ...states.map((state) => shown(minuteOf(state, measured[state], count))));
  return [
    ...methods.map((method) =>
      line(method, (asked) => callsIn(asked).filter((each) => each === method).length),
    ),
    line('calls in all', (asked) => callsIn(asked).length),
    line('requests in all', (asked) => asked.length),
  ];
}

interface Share {
  name: string;
  host: string;
  allows: string;
  /** Null for our own pace: at all of it reading is late, and no host is asked too much. */
  cap: Cap | null;
  used: Record<State, number>;
}

function sharesOf({ name, providers, requests_per_second }: Blockchain, measured: Measured): Share[] {
  return providers.mainnet.flatMap(({ url }) => {
    const { host } = new URL(url);
    const known = capsOf(host);
    const own: Cap = { hosts: [], most: MINUTE * requests_per_second, seconds: MINUTE, of: 'requests' };
    const unknown = known.length > 0 ? '' : 'no cap is known; ';
    return [...known, own].map((cap) => ({
      name,
      host,
      allows: `${cap.most} ${cap.of} in ${cap.seconds} s${cap === own ? ` (${unknown}our pace)` : ''}`,
      cap: cap === own ? null : cap,
      used: Object.fromEntries(
        states.map((state) => [state, shareOf(cap, ofHost(measured[state], host))]),
      ) as Record<State, number>,
    }));
  });
}

/** What is allowed for a day is used up by what lasts. */
const isOfState = ({ seconds }: Cap, state: State): boolean => seconds <= MINUTE || state === 'at rest';

const ofHost = ({ asked, seconds }: Span, host: string): Span => ({
  asked: asked.filter((each) => each.host === host),
  seconds,
});

function shareOf({ most, seconds, of }: Cap, span: Span): number {
  const count = (asked: readonly Asked[]): number => {
    if (of === 'requests') return asked.length;
    if (of === 'calls') return callsIn(asked).length;
    const each = new Map<string, number>();
    for (const method of callsIn(asked)) each.set(method, (each.get(method) ?? 0) + 1);
    return Math.max(0, ...each.values());
  };
  const used =
    seconds > span.seconds ? (count(span.asked) * seconds) / span.seconds : busiest(span, seconds, count);
  return used / most;
}
