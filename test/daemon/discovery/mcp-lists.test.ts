// Answers to `tools/list` from memory: under the id of their question, and never those to another kind of question.
import { describe, expect, test } from 'vitest';
import { cacheLists } from '../../../daemon/discovery/mcp-lists.ts';

const post = (body: object, headers: Record<string, string> = {}) => {
  const text = JSON.stringify(body);
  return new Request('http://127.0.0.1/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': `${text.length}`, ...headers },
    body: text,
  });
};

const list = (id: string | number, params: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/list',
  params,
});

function library(status = 200) {
  const asked: { id?: unknown; method?: string }[] = [];
  const ask = async (web: Request) => {
    const question = await web.json();
    asked.push(question);
    return new Response(JSON.stringify({ id: question.id, result: { tools: [], of: asked.length } }), {
      status,
    });
  };
  return { asked, ask };
}

describe('lists of tools', () => {
  test('are made once, and answered under the id of each question', async () => {
    const { asked, ask } = library();
    const answer = cacheLists();
    for (const id of [1, 'two', '"', 4]) {
      const reply = await answer({ web: post(list(id)), include_hidden: false, ask });
      expect(await new Response(reply.body as Uint8Array<ArrayBuffer>).json()).toEqual({
        id,
        result: { tools: [], of: 1 },
      });
    }
    expect(asked).toHaveLength(1);
  });

  test('differ by what is asked, by its headers, and by whether hidden tools are asked for', async () => {
    const { asked, ask } = library();
    const answer = cacheLists();
    await answer({ web: post(list(1)), include_hidden: false, ask });
    await answer({ web: post(list(1)), include_hidden: true, ask });
    await answer({ web: post(list(1, { cursor: 'x' })), include_hidden: false, ask });
    await answer({ web: post(list(1), { accept: 'text/event-stream' }), include_hidden: false, ask });
    await answer({
      web: post(list(1), { 'mcp-protocol-version': '2025-11-25' }),
      include_hidden: false,
      ask,
    });
    expect(asked).toHaveLength(5);
  });

  test('leave other calls, notifications and refusals to the library', async () => {
    const { asked, ask } = library(400);
    const answer = cacheLists();
    for (const body of [{ ...list(1), method: 'tools/call' }, { jsonrpc: '2.0', method: 'tools/list' }, []]) {
      await answer({ web: post(body), include_hidden: false, ask });
      expect(asked.pop()).toEqual(body);
    }
    for (let call = 0; call < 2; call++)
      expect((await answer({ web: post(list(7)), include_hidden: false, ask })).status).toBe(400);
    expect(asked.at(-1)?.id).toBe(7);
  });
});
