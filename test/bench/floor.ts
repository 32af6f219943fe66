// The floor as a process of its own: bare h3 routes with one durable raw insert, with one prepared select, and with a long text.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { H3 } from 'h3';
import { toNodeHandler } from 'h3/node';
import { sqlite } from '../../data/db/driver.ts';

const [, , file = ''] = process.argv;
const database = new (sqlite())(file);
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
database.exec('create table invoices (id text primary key, body text not null)');
const insert = database.prepare('insert into invoices values (?, ?)');
const select = database.prepare('select body from invoices where id = ?');
const sample = randomUUID();
insert.run(sample, JSON.stringify({ id: sample, text: 'x'.repeat(1200) }));

const h3 = new H3()
  .post('/insert', async (event) => {
    const body = (await event.req.json()) as object;
    const id = randomUUID();
    insert.run(id, JSON.stringify({ ...body, id }));
    return { id };
  })
  .post('/text', async (event) => {
    const { bytes } = (await event.req.json()) as { bytes: number };
    return 'x'.repeat(bytes);
  })
  .get('/select', () => JSON.parse((select.get(sample) as { body: string }).body));

const server = createServer(toNodeHandler(h3));
server.listen(0, '127.0.0.1', () => console.log((server.address() as { port: number }).port));
