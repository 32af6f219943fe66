// Answers without an end, and addresses that are opened: in this process, where what is read can be counted.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { openerOf } from '../../cli/cockpit/browser.ts';
import { fetchService, openService } from '../../cli/engine/transport.ts';
import { verifies } from '../requirements.ts';

const LIMIT = 64 * 1024 * 1024;
const CHUNK = Buffer.alloc(1024 * 1024, 'a');

/** A server that answers `body`, or without an end; how many bytes it was rid of. */
async function service(body?: Buffer) {
  let sent = 0;
  const server = createServer((_, response) => {
    response.writeHead(200, body ? { 'content-encoding': 'gzip' } : {});
    if (body) return response.end(body);
    const more = () => {
      while (!response.destroyed) {
        sent += CHUNK.length;
        if (!response.write(CHUNK)) return response.once('drain', more);
      }
    };
    more();
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/gateways`, sent: () => sent };
}

it('an answer without an end is read up to a limit, and refused with a sentence', async () => {
  verifies('gw-answer-limit');
  const endless = await service();
  const refused = await fetchService(endless.url).catch((error: unknown) => error);
  expect(refused).toMatchObject({ kind: 'general', details: { code: 'answer_too_large' } });
  expect(endless.sent()).toBeLessThan(LIMIT + 16 * CHUNK.length);
});

it('nor is one that is small only while it is packed', async () => {
  verifies('gw-answer-limit');
  const { url } = await service(gzipSync(Buffer.alloc(LIMIT + 1)));
  await expect(fetchService(url)).rejects.toMatchObject({ details: { code: 'answer_too_large' } });
  const { text } = await fetchService((await service(gzipSync('{"ok":true}'))).url);
  expect(await text()).toBe('{"ok":true}');
});

it('what is read as it comes has no limit', async () => {
  const endless = await service();
  const { body } = await openService(endless.url);
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > LIMIT + CHUNK.length) break;
  }
  expect(size).toBeGreaterThan(LIMIT);
});

it('an address is opened by a program, and by no shell that would read it', () => {
  verifies('gw-opens-no-shell');
  expect(openerOf({ SystemRoot: 'D:\\Windows' }, 'win32')).toEqual([
    'D:\\Windows\\System32\\rundll32.exe',
    'url.dll,FileProtocolHandler',
  ]);
  expect(openerOf({}, 'win32')?.[0]).toBe('C:\\Windows\\System32\\rundll32.exe');
  expect(openerOf({}, 'darwin')).toEqual(['open']);
  expect(openerOf({ DISPLAY: ':0' }, 'linux')).toEqual(['xdg-open']);
  expect(openerOf({}, 'linux')).toBeUndefined();
});
