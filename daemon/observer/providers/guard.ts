// What families do with answers: whatever they throw that is no failure of a provider yet means that an answer cannot be read.
import type { Logger } from 'pino';
import {
  AddressError,
  type ChainReader,
  PayerError,
  ProviderError,
  type ReadRequest,
} from '../../../src/chains/family.ts';
import { unreadable } from './provider.ts';

type Log = Pick<Logger, 'error'>;

/** Throws ProviderError where an answer makes reading it throw; the error itself, which may be a fault of ours, is logged. */
export async function readingAnswers<T>(
  log: Log,
  provider: string,
  work: () => Promise<T>,
  others = new WeakSet<object>(),
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isKnown =
      error instanceof ProviderError || error instanceof AddressError || error instanceof PayerError;
    if (isKnown || others.has(error as object)) throw error;
    log.error({ err: error, provider }, 'an answer of a provider made reading it throw');
    throw unreadable(provider, error);
  }
}

/** The same for all that a reader does. What it is handed, such as the database, may throw while no answer is being read. */
export function guarded(reader: ChainReader, log: Log): ChainReader {
  return {
    async *read(context, request) {
      const others = new WeakSet<object>();
      const pages = reader.read(context, markedRequest(request, others))[Symbol.asyncIterator]();
      try {
        for (;;) {
          const next = await readingAnswers(log, context.rpc.provider, () => pages.next(), others);
          if (next.done) return;
          yield next.value;
        }
      } finally {
        await pages.return?.();
      }
    },
    recheck: (context, pending, tip) =>
      readingAnswers(log, context.rpc.provider, () => reader.recheck(context, pending, tip)),
    lookUp: (context, named) =>
      readingAnswers(log, context.rpc.provider, () => reader.lookUp(context, named)),
  };
}

const marking =
  (others: WeakSet<object>) =>
  <A extends unknown[], T>(call: (...given: A) => Promise<T>) =>
  async (...given: A): Promise<T> => {
    try {
      return await call(...given);
    } catch (error) {
      if (typeof error === 'object' && error !== null) others.add(error);
      throw error;
    }
  };

function markedRequest(request: ReadRequest, others: WeakSet<object>): ReadRequest {
  const marked = marking(others);
  return {
    ...request,
    addresses: marked(request.addresses),
    accounts: marked(request.accounts),
    urgent: marked(request.urgent),
    behind: marked(request.behind),
    pending: marked(request.pending),
  };
}
