// Where a merchant's webhooks arrive: keeps every one, and answers at once, later or never, as a test says.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';

export interface Hook {
  /** The `webhook-id` header: the event's id. */
  event_id: string;
  type: string;
  invoice_id: string;
  headers: Record<string, string>;
  body: string;
}

export interface Receiver {
  url: string;
  hooks: Hook[];
  /** From now on a webhook is taken and not answered. */
  fallSilent(): void;
  /** Answers those that still wait, and all that come. */
  speak(): void;
  close(): Promise<void>;
}

export async function openReceiver(): Promise<Receiver> {
  const waiting = new Set<ServerResponse>();
  let silent = false;
  const server = createServer(async (request, response) => {
    let text = '';
    try {
      for await (const chunk of request) text += chunk;
    } catch {
      return; // The daemon died before the whole of it had come: no webhook.
    }
    const { type, data } = JSON.parse(text) as { type: string; data: { invoice: { id: string } } };
    receiver.hooks.push({
      event_id: String(request.headers['webhook-id']),
      type,
      invoice_id: data.invoice.id,
      headers: request.headers as Record<string, string>,
      body: text,
    });
    if (silent) waiting.add(response);
    else response.end('ok');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hook`,
    hooks: [],
    fallSilent() {
      silent = true;
    },
    speak() {
      silent = false;
      for (const response of waiting) response.end('ok');
      waiting.clear();
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return receiver;
}
