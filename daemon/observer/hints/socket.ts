// One connection that hints come over: a WebSocket that takes short texts, and ends where anything else is sent.
import type { WebSocket } from 'ws';
import type { OpenHintSocket } from '../../process/network.ts';
import { tunnelAgent } from '../../process/outgoing.ts';
import { rest } from '../../process/rest.ts';

/** A hint says that something happened, which takes some hundred bytes; a block's header, two thousand. */
export const MAX_MESSAGE_BYTES = 64 * 1024;
const MAX_FRAGMENTS = 64;
/** Of the network, each as small as the sender makes it. */
const MAX_CHUNKS = 1024;

/** The library is loaded for the first connection. */
export const openHintSocket: OpenHintSocket = (url, { headers, timeout_ms, proxyOf }, listener) => {
  let socket: WebSocket | undefined;
  let ended = false;
  const end = (why: string) => {
    if (ended) return;
    ended = true;
    socket?.terminate();
    listener.onEnd(why);
  };
  const open = async () => {
    const { WebSocket } = await rest.ws();
    const proxy = proxyOf?.(url);
    const agent = proxy ? await tunnelAgent(url, proxy, timeout_ms) : undefined;
    if (ended) return;
    socket = new WebSocket(url, {
      headers,
      agent,
      handshakeTimeout: timeout_ms,
      maxPayload: MAX_MESSAGE_BYTES,
      maxFragments: MAX_FRAGMENTS,
      maxBufferedChunks: MAX_CHUNKS,
      perMessageDeflate: false,
    });
    socket
      .on('open', () => !ended && listener.onOpen())
      .on('pong', () => !ended && listener.onSign())
      .on('ping', () => !ended && listener.onSign())
      .on('message', (data, is_binary) => {
        if (is_binary) end('it sends bytes instead of text');
        else if (!ended) listener.onText(Buffer.from(data).toString());
      })
      .on('error', (error) => end(error.message))
      .on('close', (code) => end(`it was closed (${code})`));
  };
  open().catch((error: Error) => end(error.message));
  return {
    send: (text) => void (isOpen(socket) && socket.send(text)),
    ping: () => void (isOpen(socket) && socket.ping()),
    close() {
      ended = true;
      socket?.terminate();
    },
  };
};

const OPEN = 1;
const isOpen = (socket: WebSocket | undefined): socket is WebSocket => socket?.readyState === OPEN;
