// From a key to its frame in the cockpit: with 100,000 payments behind it, and with 50 events a second.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDb } from '../../data/db/open.ts';
import { makeGw, type Pty } from '../cli/helpers/gw.ts';
import { wallets } from '../helpers/people.ts';
import { ask, serviceAt } from '../helpers/service.ts';
import { atMost, median, say, spread } from './measure.ts';
import { fillInvoices, startWorld, type World } from './world.ts';

const PAYMENTS = 100_000;
const OPERATOR = { email: 'operator@example.com', password: 'operator password' };
const SIZE = { columns: 200, rows: 50 };
/** Keys that are timed in each part, after those that warm up. */
const KEYS = 200;
const WARM_UP = 50;
const ROUNDS = 3;
/** Between a frame and the next key: no one types faster. */
const PAUSE_MS = 30;
/** Until a bare program reads keys. */
const START_MS = 1_000;
const EVENTS_PER_SECOND = 50;
const WORKERS = 8;
const MEDIAN_MS = 5;
const WORST_MS = 50;

export async function benchScreens(): Promise<void> {
  const world = await startWorld({
    GATEWAYD_ADMIN_EMAIL: OPERATOR.email,
    GATEWAYD_ADMIN_PASSWORD: OPERATOR.password,
  });
  const gw = makeGw(world.daemon.url);
  await fill(world);
  await gw(['login', OPERATOR.email, '--password-stdin'], { stdin: OPERATOR.password });
  const pty = gw.pty(['admin', 'payments'], SIZE);
  await pty.seeFrame((frame) => frame.includes('of the newest 10000'));
  await floor();
  await judge(`with ${PAYMENTS} payments`, pty);
  const load = await sellSteadily(world);
  await judge(`with ${EVENTS_PER_SECOND} events a second`, pty);
  say(`events made: ${load.stop().toFixed(0)} per second`);
  const [, status = ''] = pty.frame().split('\n');
  say(`the screen afterwards: ${status.replaceAll(/ {2,}/g, '  ')}`);
  pty.write('q');
  await pty.ended;
  gw.remove();
  await world.home.remove();
}

async function fill({ home, merchant_id }: World): Promise<void> {
  const db = await openDb(`sqlite:${join(home.dir, 'gatewayd', 'gatewayd.db')}`);
  const now = Math.floor(Date.now() / 1000);
  await fillInvoices(db, {
    owner_id: merchant_id,
    count: PAYMENTS,
    status: 'confirmed',
    address_key: wallets.ton ?? '',
    created_at: now - PAYMENTS - 60,
    expires_at: now,
  });
  await db.close();
}

/** What a program takes that does nothing with a key but to answer it, on the same terminal. */
async function floor(): Promise<void> {
  const echo =
    "process.stdin.setRawMode(true); process.stdin.on('data', (key) => (String(key) === 'q' ? process.exit() : process.stdout.write('.')))";
  const command = `exec '${process.execPath}' -e "${echo}"`;
  const child = spawn('script', ['-qefc', command, '/dev/null'], { stdio: ['pipe', 'pipe', 'ignore'] });
  const sent = () => new Promise<void>((resolve) => child.stdout.once('data', () => resolve()));
  await sleep(START_MS);
  await timed({ write: (keys) => void child.stdin.write(keys), sent }, WARM_UP);
  const times = await timed({ write: (keys) => void child.stdin.write(keys), sent }, KEYS);
  say(`key to answer of a program that only echoes: ${spread(times, 1)} ms`);
  child.stdin.write('q');
}

/** Times keys that move, page and turn the order; the highest and the median of each round. */
async function judge(what: string, pty: Pty): Promise<void> {
  await timed(pty, WARM_UP);
  const rounds: number[][] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await timed(pty, KEYS));
  atMost(`key to frame ${what}, median, ms`, rounds.map(median), MEDIAN_MS, 1);
  atMost(
    `key to frame ${what}, worst, ms`,
    rounds.map((times) => Math.max(...times)),
    WORST_MS,
    1,
  );
}

async function timed(pty: Pick<Pty, 'write' | 'sent'>, keys: number): Promise<number[]> {
  const times: number[] = [];
  for (let key = 0; key < keys; key++) {
    const sent = pty.sent();
    const pressed = performance.now();
    pty.write(key % 25 === 24 ? 'g' : key % 10 === 9 ? '\u0006' : 'j');
    await sent;
    times.push(performance.now() - pressed);
    await sleep(PAUSE_MS);
  }
  return times;
}

/** Makes and cancels invoices at a steady rate: each is an event. */
async function sellSteadily({ daemon, key }: World): Promise<{ stop(): number }> {
  const service = serviceAt({ base_url: daemon.url });
  let made = 0;
  let isOver = false;
  const started = performance.now();
  const run = async () => {
    while (!isOver) {
      const due = ((performance.now() - started) / 1000) * EVENTS_PER_SECOND;
      if (made >= due) {
        await sleep(5);
        continue;
      }
      made += 2;
      const invoice = await ask(service, 'POST', '/v1/invoices', {
        key,
        body: { chain: 'ton', amount: '12.50' },
      });
      await ask(service, 'POST', `/v1/invoices/${(invoice as { id: string }).id}/cancel`, {});
    }
  };
  const workers = Array.from({ length: WORKERS }, run);
  return {
    stop() {
      isOver = true;
      void Promise.all(workers);
      return made / ((performance.now() - started) / 1000);
    },
  };
}
