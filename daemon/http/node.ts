// Between the sockets of Node and the web requests of the routes.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { H3 } from 'h3';
import { NodeRequest, sendNodeResponse } from 'srvx/node';
import type { AtHand } from './at-hand.ts';
import { network, openPlaces } from './counting.ts';
import { Feed } from './exchange.ts';
import { peerAddress } from './proxies.ts';
import { AnswerResponse, writeAnswer, writeFeed } from './reply.ts';
import { inSlices } from './slices.ts';

/** Requests of one connection that are under way. While others of it wait, nothing more is read from it. */
const AT_ONCE = 4;
/**
 * Of all connections of one address: one piece that is read holds hundreds of requests, each some kilobytes of memory. Beyond it
 * a connection is closed, as one that answers no more (RFC 9112, section 9.3.2).
 */
const MAX_WAITING = 5_000;

/** Answers each request of a server with what the routes make of it. */
export function nodeHandler({ h3, at_hand, addressOf = peerOf }: Answering): RequestListener {
  const answer: RequestListener = (req, res) => {
    if (at_hand?.give(req, res)) return;
    void answerTo(h3, new NodeRequest({ req, res }) as unknown as Request)
      .then((response) => send(res, response))
      // What cannot be sent is no answer: the caller is not left waiting for the rest of it.
      .catch(() => void res.destroy());
  };
  return fewAtOnce(addressOf, inSlices(addressOf, answer));
}

interface Answering {
  h3: H3;
  at_hand?: AtHand;
  /** Whose turn a request takes; the other end of its connection by default. */
  addressOf?(req: IncomingMessage): string;
}

const peerOf = ({ socket }: IncomingMessage): string => network(peerAddress(socket.remoteAddress));

interface Connection {
  under_way: Set<ServerResponse>;
  waiting: { req: IncomingMessage; res: ServerResponse; leave: () => void }[];
}

/** Node reads as many requests of a connection as come, and would have all of them answered at once. */
function fewAtOnce(addressOf: (req: IncomingMessage) => string, answer: RequestListener): RequestListener {
  const connections = new WeakMap<Socket, Connection>();
  const places = openPlaces();
  const begin = (connection: Connection, req: IncomingMessage, res: ServerResponse) => {
    connection.under_way.add(res);
    res.once('close', () => {
      connection.under_way.delete(res);
      // In a turn of its own: others come in between.
      if (connection.waiting.length > 0) setImmediate(next, connection, req.socket);
    });
    answer(req, res);
  };
  const next = (connection: Connection, socket: Socket) => {
    const [first] = connection.waiting;
    if (!first || connection.under_way.size >= AT_ONCE) return;
    connection.waiting.shift();
    first.leave();
    if (connection.waiting.length === 0) socket.resume();
    begin(connection, first.req, first.res);
  };
  const openConnection = (socket: Socket): Connection => {
    const connection: Connection = { under_way: new Set(), waiting: [] };
    connections.set(socket, connection);
    // Node resumes it for each request whose body is read, and for each answer that has been sent. Where it was paused between that
    // and here, or Node pauses it too because its answers are not read, nothing but the event stops what flows all the same.
    socket.on('resume', () => {
      if (connection.waiting.length === 0) return;
      socket.pause();
      socket.emit('pause');
    });
    socket.once('close', () => {
      for (const { leave } of connection.waiting.splice(0)) leave();
      // Node says so to the answer alone whose turn it is: those behind it would write to no one, and give nothing back.
      for (const res of connection.under_way) if (!res.socket) res.destroy().emit('close');
    });
    return connection;
  };
  return (req, res) => {
    const { socket } = req;
    // What came in one piece is read to its end, whatever has become of its connection.
    if (socket.destroyed) return;
    const connection = connections.get(socket) ?? openConnection(socket);
    if (connection.under_way.size < AT_ONCE && connection.waiting.length === 0)
      return begin(connection, req, res);
    const leave = places(addressOf(req), MAX_WAITING);
    if (!leave) return void socket.destroy();
    connection.waiting.push({ req, res, leave });
    socket.pause();
  };
}

const answerTo = async (h3: H3, request: Request): Promise<Response> => h3.fetch(request);

function send(res: ServerResponse, response: Response): void | Promise<void> {
  const { answer } = response as Partial<AnswerResponse>;
  if (answer?.body instanceof Feed) return writeFeed(res, answer, answer.body);
  if (!(response instanceof AnswerResponse) || !answer || answer.body instanceof ReadableStream)
    return sendNodeResponse(res, response);
  writeAnswer(res, answer);
}
