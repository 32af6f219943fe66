// The operator's screens: whatever they show is true, and keys do what they show.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { sqlite } from '../../data/db/driver.ts';
import { json, serve } from '../helpers/local-server.ts';
import { verifies } from '../requirements.ts';
import { type Gw, makeGw, type Pty } from './helpers/gw.ts';
import { logInOperator, openStage, type Stage } from './helpers/stage.ts';

const ENTER = '\r';
const CTRL_R = '\u0012';
const ESC = '\u001b';
const NO_NAME = 'no-such-order';
/** More than two pages of the list. */
const MANY = 450;

let stage: Stage;
let gw: Gw;
let operator: Gw;

beforeAll(async () => {
  stage = await openStage('screens@example.com');
  ({ gw, other: operator } = stage);
  await logInOperator(operator);
});
// Columns and order are stored: each test begins with the usual ones.
afterEach(() => rmSync(join(operator.dir, 'screens.json'), { force: true }));
afterAll(() => stage.close());

const short = (id: string): string => id.slice(-8);

async function create(reference: string, amount = '5'): Promise<string> {
  const made = ['invoice', 'create', '--chain', 'ton', '--amount', amount, '--external-ref', reference];
  return (await gw([...made, '--json', 'id'])).json.id;
}

function onDatabase<T>(work: (db: InstanceType<ReturnType<typeof sqlite>>) => T): T {
  const db = new (sqlite())(join(stage.home.dir, 'gatewayd', 'gatewayd.db'));
  db.pragma('busy_timeout = 10000');
  try {
    return work(db);
  } finally {
    db.close();
  }
}

/** A screen that is left when the test ends. */
function open(
  args: string[],
  size?: { columns?: number; rows?: number; env?: Record<string, string> },
  who = operator,
): Pty {
  const pty = who.pty(args, size);
  onTestFinished(async () => {
    pty.write('\u0003');
    await pty.ended;
  });
  return pty;
}

const markedIn = (frame: string): string => /^›[ ●](\w{8})/m.exec(frame)?.[1] ?? '';

describe('gw admin payments', () => {
  it('lets rows leave a filtered list, and its mark follow the row', async () => {
    verifies('gw-screens-true');
    const [first, second] = [await create('leaves'), await create('stays')];
    const pty = open(['admin', 'payments', '--status', 'created', '--refresh', '500ms']);
    await pty.seeFrame((frame) => frame.includes(short(first)) && markedIn(frame) === short(second));
    const third = await create('above');
    await pty.seeFrame((frame) => frame.includes(short(third)) && markedIn(frame) === short(second));
    await gw(['invoice', 'cancel', first]);
    await pty.seeFrame((frame) => !frame.includes(short(first)) && frame.includes('2 of 2'));
    pty.write(ENTER);
    await pty.seeFrame((frame) => frame.includes(second) && frame.includes('r resolve'));
    pty.write('\u001b');
    await pty.seeFrame((frame) => markedIn(frame) === short(second));
    // Its neighbour is not hit in its place.
    await gw(['invoice', 'cancel', second]);
    await pty.seeFrame((frame) => frame.includes('the marked row has left'));
    pty.write(ENTER);
    pty.write('j');
    const left = await pty.seeFrame((frame) => markedIn(frame) === short(third));
    expect(left).toContain('1 of 1');
  });

  it('reads the rows in view again, however far behind the newest they are', async () => {
    verifies('gw-screens-true');
    const id = await create('old');
    onDatabase((db) => {
      const columns = (db.pragma('table_info(invoices)') as { name: string }[]).map(({ name }) => name);
      const replaced: Record<string, string> = {
        id: "lower(hex(randomblob(4))||'-'||hex(randomblob(2))||'-4000-8000-'||hex(randomblob(6)))",
        memo: 'null',
        reference: 'null',
        reserved: 'null',
        created_at: 'created_at - n',
        external_ref: "'behind-'||n",
      };
      const values = columns.map((name) => replaced[name] ?? name).join(', ');
      db.prepare(`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${MANY})
        insert into invoices (${columns.join(', ')}) select ${values}
        from numbers, (select * from invoices where id = ?)`).run(id);
    });
    const pty = open(['admin', 'payments', '--status', 'created', '--refresh', '500ms']);
    await pty.seeFrame((frame) => /45\d of 45\d {3}/.test(frame));
    pty.write('G');
    const oldest = onDatabase((db) =>
      db.prepare('select id from invoices where external_ref = ?').pluck().get(`behind-${MANY}`),
    ) as string;
    await pty.seeFrame((frame) => markedIn(frame) === short(oldest));
    onDatabase((db) =>
      db.prepare("update invoices set status = 'cancelled', due_at = null where id = ?").run(oldest),
    );
    await pty.seeFrame(
      (shown) => !shown.includes(short(oldest)) && shown.includes('the marked row has left'),
    );
    const ends = "update invoices set status = 'cancelled', due_at = null where external_ref like 'behind-%'";
    onDatabase((db) => db.prepare(ends).run());
    await pty.seeFrame((shown) => /^\d{1,2} of /m.test(shown));
  });

  it('says how old its data is, and reads again on ctrl-r', async () => {
    verifies('gw-screens-true');
    const pty = open(['admin', 'payments', '--refresh', '1h']);
    await pty.seeFrame((frame) => frame.includes('read just now'));
    const id = await create('later');
    await pty.seeFrame((frame) => /read 1\ds ago/.test(frame));
    expect(pty.frame()).not.toContain(short(id));
    pty.write(CTRL_R);
    await pty.seeFrame((frame) => frame.includes(short(id)) && frame.includes('read just now'));
  });
});

it('reads dashboard and observers again on ctrl-r', async () => {
  const pty = open(['admin', 'dashboard', '--refresh', '1h']);
  const before = Number(/created (\d+)/.exec(await pty.seeFrame((frame) => /created \d+/.test(frame)))?.[1]);
  await create('counted');
  pty.write(CTRL_R);
  await pty.seeFrame((frame) => frame.includes(`created ${before + 1}`));
  pty.write(`:observers${ENTER}`);
  await pty.seeFrame((frame) => frame.includes('BLOCKCHAIN') && frame.includes('read just now'));
});

describe('the cockpit', () => {
  it('opens the list behind a count, leads back and ahead, and goes to views by name', async () => {
    verifies('gw-cockpit');
    const id = await create('behind the count');
    const pty = open(['admin', 'dashboard', '--refresh', '1h'], { columns: 120, rows: 40 });
    await pty.seeFrame((frame) => /created \d+/.test(frame) && frame.includes('testnet demo'));
    expect(pty.frame()).toMatch(/volume +[·▁-█]{30}/);
    expect(pty.frame()).toContain('behind the count');
    pty.write('j');
    await pty.seeFrame((frame) => frame.includes('›created'));
    pty.write(ENTER);
    await pty.seeFrame((frame) => frame.includes('gw  payments created') && frame.includes(short(id)));
    pty.write('[');
    await pty.seeFrame((frame) => frame.includes('gw  dashboard'));
    pty.write(']');
    await pty.seeFrame((frame) => frame.includes('gw  payments created'));
    pty.write(`:wbhooks${ENTER}`);
    await pty.seeFrame((frame) => frame.includes('did you mean webhooks?'));
    pty.write(':ledg\t');
    await pty.seeFrame((frame) => frame.includes(':ledger █'));
    pty.write(ENTER);
    await pty.seeFrame((frame) => frame.includes('gw  ledger') && frame.includes('no bookings yet'));
    pty.write(`:payments cancelled${ENTER}`);
    await pty.seeFrame((frame) => frame.includes('gw  payments cancelled'));
    pty.write('?');
    await pty.seeFrame((frame) => frame.includes('here: payments cancelled') && frame.includes('ctrl-r'));
  });

  it('has every view, none of them broken, at each size', async () => {
    verifies('gw-cockpit');
    for (const [columns, rows] of [
      [80, 24],
      [200, 50],
    ] as const) {
      const pty = open(['admin', 'dashboard', '--refresh', '1h'], { columns, rows });
      await pty.seeFrame((frame) => frame.includes('invoices'));
      for (const view of 'payments inbox merchants units webhooks events ledger observers contradictions rates gateways'.split(
        ' ',
      )) {
        pty.write(`:${view}${ENTER}`);
        const shown = await pty.seeFrame(
          (frame) =>
            frame.includes(`gw  ${view}`) &&
            frame.includes('testnet demo') &&
            frame.includes('read just now'),
        );
        expect(shown, view).not.toContain('!');
        const lines = shown.split('\n');
        expect(lines.length, view).toBe(rows);
        // Next to the list stands the row under the cursor, where there is room.
        expect(
          lines.slice(3, -1).some((line) => line.includes('│')),
          view,
        ).toBe(columns === 200);
      }
    }
  });

  it('acts on marked rows after their number was typed', async () => {
    verifies('gw-cockpit');
    const [first, second] = [await create('marked one'), await create('marked two')];
    const pty = open(['admin', 'payments', '--status', 'created', '--refresh', '1h'], { columns: 160 });
    await pty.seeFrame((frame) => markedIn(frame) === short(second));
    pty.write('  ');
    await pty.seeFrame((frame) => frame.includes('2 marked') && frame.includes(`●${short(first)}`));
    pty.write('x');
    await pty.seeFrame((frame) => frame.includes('type 2, then enter'));
    pty.write(`3${ENTER}`);
    await pty.seeFrame((frame) => frame.includes('nothing was done'));
    pty.write(`x2${ENTER}`);
    await pty.seeFrame((frame) => frame.includes('expire: 2 done') && !frame.includes(short(first)));
    pty.write(`:payments marked t${ENTER}`);
    await pty.seeFrame((frame) => markedIn(frame) === short(second) && /› \w{8} {2}expired/.test(frame));
  });

  it('sorts, hides columns, copies and opens', async () => {
    verifies('gw-cockpit');
    const id = await create('copied');
    const opened = join(stage.home.dir, 'opened');
    const browser = join(stage.home.dir, 'browser');
    writeFileSync(browser, `#!/bin/sh\necho "$1" > '${opened}'\n`, { mode: 0o755 });
    const env = { BROWSER: browser };
    const pty = open(['admin', 'payments', '--refresh', '1h'], { columns: 160, env });
    await pty.seeFrame((frame) => markedIn(frame) === short(id) && frame.includes('testnet demo'));
    pty.write('s');
    await pty.seeFrame((frame) => frame.includes('ID↓'));
    pty.write('S');
    await pty.seeFrame((frame) => frame.includes('ID↑'));
    pty.write('sssssssss');
    await pty.seeFrame((frame) => !/[↑↓]/.test(frame.split('\n')[2] ?? ''));
    pty.write('ca');
    await pty.seeFrame((frame) => frame.includes('[ ] status') && !frame.includes('STATUS'));
    pty.write(ESC);
    await pty.seeFrame((frame) => frame.includes('q quit'));
    pty.write('gyi');
    await pty.see(new RegExp(`\u001b\\]52;c;${Buffer.from(id).toString('base64')}\u0007`));
    pty.write('o');
    await pty.seeFrame((frame) => frame.includes('opened http'));
    await expect
      .poll(() => existsSync(opened) && readFileSync(opened, 'utf8'), { timeout: 20_000 })
      .toContain(`/pay/${id}`);
  });

  it('stores columns and order for the next start, by view and profile', async () => {
    verifies('gw-cockpit');
    const id = await create('stored');
    const titlesOf = (frame: string) => frame.split('\n')[2] ?? '';
    const payments = () => open(['admin', 'payments', '--refresh', '1h'], { columns: 140 });
    const first = payments();
    await first.seeFrame((frame) => frame.includes(short(id)) && titlesOf(frame).includes('STATUS'));
    first.write('ca');
    await first.seeFrame((frame) => frame.includes('[ ] status'));
    first.write(ESC);
    await first.seeFrame((frame) => frame.includes('q quit'));
    first.write('ssS');
    await first.seeFrame((frame) => titlesOf(frame).includes('PAYMENT↑'));
    const second = payments();
    await second.seeFrame(
      (frame) => titlesOf(frame).includes('PAYMENT↑') && !titlesOf(frame).includes('STATUS'),
    );
    second.write(`:merchants${ENTER}`);
    await second.seeFrame((frame) => titlesOf(frame).includes('EMAIL') && !/[↑↓]/.test(titlesOf(frame)));
    // Broken, it is as if there was nothing.
    const file = join(operator.dir, 'screens.json');
    expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')))).toEqual(['default']);
    writeFileSync(file, '{"default":{"operator payments":7}');
    const third = payments();
    await third.seeFrame((frame) => titlesOf(frame).includes('STATUS'));
    third.write('s');
    await third.seeFrame((frame) => titlesOf(frame).includes('ID↓'));
  });

  it('sends a webhook again that was not accepted, after it asked', async () => {
    verifies('gw-cockpit');
    let status = 500;
    const receiver = await serve((_, response) => response.writeHead(status).end());
    await gw(['account', 'update', '--webhook-url', receiver.url]);
    const id = await create('refused');
    await gw(['invoice', 'simulate', id]);
    const pty = open(['admin', 'dashboard', '--refresh', '500ms'], { columns: 120 });
    await pty.seeFrame((frame) => frame.includes('q quit'));
    pty.write(`:webhooks undelivered${ENTER}`);
    await pty.seeFrame((frame) => frame.includes(`failed`) && frame.includes(short(id)));
    status = 200;
    pty.write('r');
    await pty.seeFrame((frame) => frame.includes('enter does it'));
    expect(receiver.requests).toHaveLength(1);
    pty.write(ENTER);
    await pty.seeFrame((frame) => frame.includes('resend: done') && !frame.includes(short(id)));
    const [one, other] = receiver.requests.map(({ headers }) => headers['webhook-id']);
    expect(other).toBe(one);
    await gw(['account', 'update', '--unset', 'webhook-url']);
  });

  it('shows all of the row that the cursor rests on, asks for no other, and says at once when nothing comes', async () => {
    verifies('gw-cockpit', 'gw-screens-true');
    const ids: string[] = [];
    for (let index = 0; index < 8; index += 1) ids.unshift(await create(`side-${index}`));
    const front = await serve(({ path, body, headers }, response) => {
      const { authorization = '', 'content-type': type = 'application/json' } = headers;
      const sent = body === '' ? {} : { method: 'POST', body };
      const passed = { authorization, 'content-type': type };
      void fetch(stage.daemon_url + path, { headers: passed, ...sent }).then(async (answer) =>
        json(response, await answer.json(), answer.status),
      );
    });
    const far = makeGw(front.url);
    onTestFinished(() => far.remove());
    await logInOperator(far);
    const pty = open(['admin', 'payments', '--refresh', '1h'], { columns: 200, rows: 50 }, far);
    const [newest = ''] = ids;
    const sideOf = (frame: string) =>
      frame
        .split('\n')
        .map((line) => line.split('│')[1] ?? '')
        .join('\n');
    await pty.seeFrame((frame) => sideOf(frame).includes(newest) && /^ events/m.test(sideOf(frame)));
    pty.write('jjjjjjj');
    const last = ids.at(-1) ?? '';
    const shown = await pty.seeFrame(
      (frame) => markedIn(frame) === short(last) && /^ events/m.test(sideOf(frame)),
    );
    expect(sideOf(shown)).toContain(last);
    const asked = front.requests.flatMap(
      ({ path }) => /^\/api\/v1\/admin\/payments\/(.+)/.exec(path)?.[1] ?? [],
    );
    expect(asked).toEqual([newest, last]);
    await front.close();
    pty.write(CTRL_R);
    await pty.seeFrame((frame) => frame.includes('! ') && /read \d+s ago/.test(frame));
  });

  it('says what an empty list means, and what it has of text from outside is text', async () => {
    await create('\u001b]52;c;ZXZpbA==\u0007 wide 注文 order');
    const pty = open(['admin', 'payments', '--refresh', '1h'], { columns: 200 });
    await pty.seeFrame((frame) => /wide 注 ?文 ? ?order/.test(frame));
    expect(pty.output()).not.toContain('ZXZpbA==\u0007');
    pty.write(`/${NO_NAME}${ENTER}`);
    await pty.seeFrame((frame) => frame.includes(`nothing with “${NO_NAME}”`));
    pty.write(`:contradictions${ENTER}`);
    await pty.seeFrame((frame) => frame.includes('nothing is contradicted'));
  });

  it('is the same for a merchant on his own data, and with a key alone shows what a key may read', async () => {
    verifies('gw-cockpit');
    const id = await create('my own');
    const pty = open(['dashboard', '--refresh', '1h'], { columns: 120, rows: 40 }, gw);
    await pty.seeFrame((frame) => frame.includes('limit') && frame.includes('my own'));
    for (const view of ['units', 'webhooks', 'events', 'ledger', 'inbox', 'gateways']) {
      pty.write(`:${view}${ENTER}`);
      await pty.seeFrame((frame) => frame.includes(`gw  ${view}`) && frame.includes('read just now'));
    }
    pty.write(`:payments my own${ENTER}`);
    await pty.seeFrame((frame) => markedIn(frame) === short(id));
    pty.write('x');
    await pty.seeFrame((frame) => frame.includes(`type ${short(id)}`));
    pty.write(`${short(id)}${ENTER}`);
    await pty.seeFrame((frame) => frame.includes('cancel: done') && frame.includes('cancelled'));
    const { json } = await gw(['account', 'get', '--json', 'api_key']);
    const keyed = makeGw(stage.daemon_url);
    onTestFinished(() => keyed.remove());
    const alone = open(['dashboard'], { env: { GW_API_KEY: json.api_key } }, keyed);
    await alone.seeFrame((frame) => frame.includes('latest invoices'));
    alone.write(`:units${ENTER}`);
    await alone.seeFrame((frame) => frame.includes('not signed in: leave with q, then gw login'));
  });

  it('says that it is signed out in the middle, and continues to show what it has', async () => {
    const pty = open(['admin', 'payments', '--refresh', '500ms']);
    await pty.seeFrame((frame) => frame.includes('read just now'));
    onDatabase((db) =>
      db.prepare("update users set token_version = token_version + 1 where email like 'operator@%'").run(),
    );
    await pty.seeFrame((frame) => frame.includes('! ') && frame.includes('leave with q, then gw login'));
    expect(markedIn(pty.frame())).not.toBe('');
    await logInOperator(operator);
  });
});
