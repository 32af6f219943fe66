// A real mail server on loopback, closed with the test.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { onTestFinished } from 'vitest';

/** A mail server that takes what it is sent; `refuse` is its answer to every recipient. */
export async function smtpServer(refuse?: string) {
  const envelopes: { from: string; to: string[] }[] = [];
  const mails: string[] = [];
  const arrived_ms: number[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: (_address, _session, done) =>
      refuse ? done(Object.assign(new Error(refuse), { responseCode: 550 })) : done(),
    async onData(stream, { envelope }, done) {
      mails.push(await text(stream));
      arrived_ms.push(Date.now());
      const from = envelope.mailFrom ? envelope.mailFrom.address : '';
      envelopes.push({ from, to: envelope.rcptTo.map(({ address }) => address) });
      done();
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  return { envelopes, mails, arrived_ms, url: `smtp://127.0.0.1:${port}` };
}
