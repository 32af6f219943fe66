// The operator's screens: whatever they show is true, and keys do what they show.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { sqlite } from '../../data/db/driver.ts';
import { verifies } from '../requirements.ts';
import type { Gw, Pty } from './helpers/gw.ts';
import { logInOperator, openStage, type Stage } from './helpers/stage.ts';

const ENTER = '\r';
const CTRL_R = '\u0012';
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
function open(args: string[], size?: { columns: number; rows: number }): Pty {
  const pty = operator.pty(args, size);
  onTestFinished(async () => {
    pty.write('\u0003');
    await pty.ended;
  });
  return pty;
}

const markedIn = (frame: string): string => /^› (\w{8})/m.exec(frame)?.[1] ?? '';

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
