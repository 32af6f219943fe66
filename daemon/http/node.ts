// Between the sockets of Node and the web requests of the routes.
import type { RequestListener, ServerResponse } from 'node:http';
import type { H3 } from 'h3';
import { NodeRequest, sendNodeResponse } from 'srvx/node';
import { AnswerResponse } from './reply.ts';

/** The status says it all; the general way of sending says no more either. */
const NO_PHRASE = '';

/** Answers each request of a server with what the routes make of it. */
export function nodeHandler(h3: H3): RequestListener {
  return (req, res) => {
    void answerTo(h3, new NodeRequest({ req, res }) as unknown as Request)
      .then((response) => send(res, response))
      // What cannot be sent is no answer: the caller is not left waiting for the rest of it.
      .catch(() => void res.destroy());
  };
}

const answerTo = async (h3: H3, request: Request): Promise<Response> => h3.fetch(request);

function send(res: ServerResponse, response: Response): void | Promise<void> {
  const { answer } = response as Partial<AnswerResponse>;
  if (!(response instanceof AnswerResponse) || !answer || answer.body instanceof ReadableStream)
    return sendNodeResponse(res, response);
  const { status, headers, body } = answer;
  if (body === null) {
    res.writeHead(status, NO_PHRASE, headers);
    res.end();
    return;
  }
  // Head and text go out as one piece, where the general way makes two of them.
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
  res.writeHead(status, NO_PHRASE, { ...headers, 'content-length': String(length) });
  res.end(body);
}
