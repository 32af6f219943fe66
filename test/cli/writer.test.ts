// Data in place of JSON: jq expressions, templates and CSV, of lists and of one thing.
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type Io, printJson, processIo } from '../../cli/output/io.ts';
import { printReply } from '../../cli/output/view.ts';
import { csvWriter, jqWriter, templateWriter } from '../../cli/output/writer.ts';
import { verifies } from '../requirements.ts';

const reply = {
  data: [
    {
      id: 'a',
      amount: '1.50',
      created_at: 1_700_000_000,
      tags: ['x', 'y'],
      unit: { title: 'Tea' },
      note: null,
    },
    {
      id: 'b',
      amount: '-2',
      created_at: 1_700_000_060,
      tags: [],
      unit: null,
      note: '=HYPERLINK("http://x")',
    },
  ],
  has_more: false,
};

/** Where output goes that can be read again; a terminal where `isTTY`. */
function makeIo(isTTY = false): { io: Io; out(): string; err(): string } {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const read = (stream: PassThrough) => () => String(stream.read() ?? '');
  const io = {
    ...processIo(),
    json: true,
    stdout: Object.assign(stdout, { isTTY }),
    stderr,
  } as unknown as Io;
  return { io, out: read(stdout), err: read(stderr) };
}

const noNames: ReadonlySet<string> = new Set();

describe('--jq', () => {
  it('writes text as it is and anything else as JSON, one after the other', async () => {
    verifies('gw-formats');
    const { io, out, err } = makeIo();
    const run = async (expression: string) => {
      io.writer = await jqWriter(io, expression, false);
      printJson(io, reply);
      return out();
    };
    expect(await run('.data[].id')).toBe('a\nb\n');
    expect(await run('.data|length')).toBe('2\n');
    expect(await run('.data[]|select(.amount=="-2")|{id,note}')).toBe(
      '{"id":"b","note":"=HYPERLINK(\\"http://x\\")"}\n',
    );
    expect(await run('.data[]|[.id,.amount]|@tsv')).toBe('a\t1.50\nb\t-2\n');
    expect(await run('"two\\nlines", ""')).toBe('two\nlines\n\n');
    expect(await run('empty')).toBe('');
    // Neither files nor the environment are there to be read.
    expect(await run('env.HOME, $ENV.GW_TOKEN')).not.toContain(process.env.HOME ?? '/root');
    await run('.has_more|debug');
    expect(err()).toContain('["DEBUG:",false]');
  });

  it('refuses what is no expression before anything is asked, and says what is wrong', async () => {
    verifies('gw-formats');
    const { io } = makeIo();
    const faults = await Promise.all(
      ['.data[', '.data | nope', ''].map((text) => jqWriter(io, text, false).catch((error) => error)),
    );
    for (const fault of faults)
      expect(fault).toMatchObject({
        kind: 'usage',
        details: { hint: expect.stringContaining('.data[].id') },
      });
    expect(faults.map(({ message }) => message)).toEqual([
      '--jq: syntax error, unexpected end of file in .data[',
      '--jq: nope/0 is not defined in .data | nope',
      '--jq: Top-level program not given (try ".")',
    ]);
  });

  it('says that a change was made where the expression fails on its reply', async () => {
    verifies('gw-formats');
    const { io } = makeIo();
    const fail = async (is_done: boolean) => {
      const { write } = await jqWriter(io, '.data.id', is_done);
      try {
        write(reply);
      } catch (error) {
        return error as Error;
      }
      return undefined;
    };
    expect(await fail(false)).toMatchObject({
      kind: 'usage',
      message: '--jq cannot read the reply: Cannot index array with string ("id")',
    });
    expect((await fail(true))?.message).toMatch(/^the command was carried out, but --jq/);
  });

  it('sends a terminal nothing that it obeys', async () => {
    const { io, out } = makeIo(true);
    io.writer = await jqWriter(io, '.text, .', false);
    printJson(io, { text: 'red \u001b[31m\u202e' });
    expect(out()).toBe('red \n{\n  "text": "red \\u001b[31m\\u202e"\n}\n');
  });
});

describe('--template', () => {
  it('writes a line for each row of a list, and one for one thing', async () => {
    verifies('gw-formats');
    const { io, out } = makeIo();
    const run = async (template: string, thing: unknown = reply) => {
      io.writer = templateWriter(io, template, noNames);
      await printReply(io, thing);
      return out();
    };
    expect(await run('{{.id}}\\t{{ .amount }} {{.unit.title}}')).toBe('a\t1.50 Tea\nb\t-2 \n');
    expect(await run('{{.tags}}|{{.note}}\\n')).toBe('["x","y"]|\n[]|=HYPERLINK("http://x")\n');
    expect(await run('more: {{.has_more}}')).toBe('more: false\n');
    expect(await run('{{.id}} {{.}}', { id: 'one' })).toBe('one {"id":"one"}\n');
    expect(await run('no member', [{ id: 'a' }])).toBe('no member\n');
  });

  it('refuses what it does not know, and names what there is', () => {
    verifies('gw-formats');
    const { io } = makeIo();
    const known = new Set(['id', 'amount']);
    const fault = (template: string) => {
      try {
        templateWriter(io, template, known);
      } catch (error) {
        return error as { message: string; details: { hint: string } };
      }
      throw new Error(`${template} was taken`);
    };
    expect(fault('{{.amonut}}')).toMatchObject({
      kind: 'usage',
      message: 'unknown member amonut',
      details: { hint: '--template takes: id, amount' },
    });
    expect(fault('{{range .data}}{{.id}}{{end}}').details.hint).toContain('each row is written as a line');
    expect(fault('{{id}}').message).toContain('{{.member}}');
    expect(fault('{{.id} {{').message).toContain('{{ without }}');
  });
});

describe('--csv', () => {
  it('writes a header and a line for each row, by RFC 4180, and no formula', async () => {
    verifies('gw-formats');
    const { io, out } = makeIo();
    io.writer = csvWriter(io);
    const columns = ['id', 'amount', 'created_at', 'tags', 'unit.title', 'note'];
    await printReply(io, reply, { columns });
    await printReply(io, reply, { columns });
    const [head, ...lines] = out().split('\r\n');
    expect(head).toBe(columns.join(','));
    expect(lines.slice(0, 2)).toEqual([
      'a,1.50,2023-11-14T22:13:20.000Z,"x, y",Tea,',
      `b,-2,2023-11-14T22:14:20.000Z,,,"'=HYPERLINK(""http://x"")"`,
    ]);
    // The second page has no header.
    expect(lines).toEqual([...lines.slice(0, 2), ...lines.slice(0, 2), '']);
  });

  it('has the columns that --json names, of an empty list too, and one thing has one line', async () => {
    verifies('gw-formats');
    const { io, out } = makeIo();
    io.json = ['amount', 'id'];
    io.writer = csvWriter(io);
    await printReply(io, reply, { columns: ['id'] });
    expect(out()).toBe('amount,id\r\n1.50,a\r\n-2,b\r\n');
    io.writer = csvWriter(io);
    await printReply(io, { data: [], has_more: false });
    expect(out()).toBe('amount,id\r\n');
    io.json = true;
    io.writer = csvWriter(io);
    await printReply(io, { id: 'one', open: true });
    expect(out()).toBe('id,open\r\none,true\r\n');
  });
});
