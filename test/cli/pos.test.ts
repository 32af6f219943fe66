// The till: an amount, a code, PAID, and the totals of the day; over a connection that is lost, and on narrow terminals.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dayBegan, tillOf } from '../../cli/journeys/parts/till.ts';
import { verifies } from '../requirements.ts';
import type { Gw } from './helpers/gw.ts';
import { openStage, type Stage } from './helpers/stage.ts';

const ENTER = '\r';
const ESCAPE = '\u001b';
const BELL = '\u0007';

let stage: Stage;
let gw: Gw;
let env: Record<string, string>;
beforeAll(async () => {
  stage = await openStage('pos@example.com');
  ({ gw } = stage);
  env = { GW_API_KEY: (await gw(['account', 'get', '--json', 'api_key'])).json.api_key };
});
afterAll(() => stage.close());

const invoices = async (): Promise<{ id: string; status: string; external_ref: string }[]> =>
  (await gw(['invoice', 'list', '--json', 'id,status,external_ref'])).json;
const simulate = (id: string | undefined) => gw(['invoice', 'simulate', id ?? '']);
const hasCode = (frame: string) => /[█▀▄]{12}/.test(frame);

/** The way to the daemon, which can be cut. */
async function openWay() {
  const target = Number(new URL(stage.daemon_url).port);
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    const on = connect(target, '127.0.0.1');
    for (const each of [socket, on]) {
      open.add(each);
      each.on('error', () => {}).on('close', () => open.delete(each));
    }
    socket.pipe(on).pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async cut() {
      server.close();
      for (const each of open) each.destroy();
    },
    async restore() {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
  };
}

describe('gw pos', () => {
  it('sells over a lost connection once, rings, and counts per till and in all', async () => {
    verifies('gw-pos');
    const way = await openWay();
    const till = gw.pty(['pos', '--till', 'bar', '--chain', 'ton'], { env: { ...env, GW_URL: way.url } });
    await till.seeFrame((frame) => frame.includes('today $0.00 (0)'));
    await way.cut();
    till.write('12.5');
    await till.seeFrame((frame) => frame.includes('$ 12.5'));
    till.write(`0x${ENTER}`);
    await till.seeFrame((frame) => frame.includes('! ') && frame.includes('asking for the code'));
    await way.restore();
    const shown = await till.seeFrame((frame) => hasCode(frame) && frame.includes('$12.50'));
    expect(shown.split('\n').length).toBeLessThanOrEqual(24);
    const [sale, ...others] = await invoices();
    expect([tillOf(sale?.external_ref ?? null), others]).toEqual(['bar', []]);
    expect(till.output()).not.toContain(BELL);
    await way.cut();
    await till.seeFrame((frame) => frame.includes('! cannot reach'));
    const other = ['invoice', 'create', '--chain', 'ton', '--amount', '5', '--external-ref', 'pos/door/1'];
    await simulate((await gw([...other, '--json', 'id'])).json.id);
    await simulate(sale?.id);
    await way.restore();
    await till.seeFrame(
      (frame) => frame.includes('████   ███') && frame.includes('today $12.50 (1)  all tills $17.50 (2)'),
    );
    expect(till.output().split(BELL)).toHaveLength(2);
    // Any key leads to the next sale, and Esc ends that unpaid.
    till.write('n');
    await till.seeFrame((frame) => frame.includes('amount in USD'));
    till.write(`3${ENTER}`);
    await till.seeFrame(hasCode);
    till.write(ESCAPE);
    await till.seeFrame((frame) => frame.includes('amount in USD'));
    expect((await invoices())[0]).toMatchObject({ status: 'cancelled' });
    till.write('q');
    expect(await till.ended).toBe(0);
    await way.cut();
  });

  it('has the code and the amount within 40 columns', async () => {
    verifies('gw-pos');
    const till = gw.pty(['pos', '--chain', 'ton'], { env, columns: 40, rows: 24 });
    await till.seeFrame((frame) => frame.includes('amount in USD'));
    till.write(`7${ENTER}`);
    const frame = await till.seeFrame((now) => hasCode(now) && now.includes('$7.00'));
    for (const line of frame.split('\n')) expect([...line.trimEnd()].length, line).toBeLessThanOrEqual(40);
    till.write('q');
    await till.ended;
  });

  it('prints the totals of today where there is no terminal, and refuses a name that is none', async () => {
    verifies('gw-pos');
    const { json } = await gw(['pos', '--till', 'bar', '--json'], { env });
    expect(json).toMatchObject({
      till: 'bar',
      since: dayBegan(),
      tills: [
        { till: 'bar', sales: 1, amount_usd: '12.5' },
        { till: 'door', sales: 1, amount_usd: '5' },
      ],
      all: { sales: 2, amount_usd: '17.5' },
    });
    const wrong = await gw(['pos', 'a/b'], { env });
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--till takes')]);
  });
});
