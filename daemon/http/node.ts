// Between the sockets of Node and the web requests of the routes.
import type { RequestListener, ServerResponse } from 'node:http';
import type { H3 } from 'h3';
import { NodeRequest, sendNodeResponse } from 'srvx/node';
import type { AtHand } from './at-hand.ts';
import { AnswerResponse, writeAnswer } from './reply.ts';

/** Answers each request of a server with what the routes make of it. */
export function nodeHandler({ h3, at_hand }: { h3: H3; at_hand?: AtHand }): RequestListener {
  return (req, res) => {
    if (at_hand?.give(req, res)) return;
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
  writeAnswer(res, answer);
}
