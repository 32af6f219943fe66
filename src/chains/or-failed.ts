// One question among several: where a provider fails it, the others are answered all the same.
import { ProviderError } from './family.ts';

/** What was answered; undefined where a provider failed, to be asked again later. Any other error is thrown. */
export async function orFailed<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ProviderError) return undefined;
    throw error;
  }
}

/** Whether a failure says something of what was asked, and nothing of the provider: it answered, and that was of no use. */
export const isOfQuestion = (error: unknown): error is ProviderError =>
  error instanceof ProviderError && (error.kind === 'bad_answer' || error.kind === 'rpc');

/** The code of what is larger than is read, whatever its provider says: less is to be asked for at once. */
export const TOO_LARGE = 413;
