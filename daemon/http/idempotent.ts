// Idempotency-Key: the same request sent again gets the first answer again, and creates nothing.
import { createHash } from 'node:crypto';
import { newId } from '../../data/db/ids.ts';
import {
  answerIdempotent,
  claimIdempotent,
  giveUpIdempotent,
  releaseIdempotent,
} from '../../data/idempotency.ts';
import type { ValidationError } from '../../src/api/read/validation.ts';
import { Refusal } from '../../src/errors.ts';
import type { App } from '../context.ts';
import type { Answer } from './reply.ts';

const MAX_KEY_LENGTH = 255;
const RETENTION_SECONDS = 24 * 3600;
/** A request that has not answered by then never will: its key is free again, though its daemon lives. */
const IN_PROGRESS_SECONDS = 60;
/** A request that this daemon works on is answered soon. */
const RETRY_AFTER_SECONDS = 1;

/** The header's value; null where it is absent. Throws a list of validation errors where it is unusable. */
export function idempotencyKey(headers: Headers): string | null | { detail: ValidationError[] } {
  const key = headers.get('idempotency-key');
  if (key === null || (key !== '' && key.length <= MAX_KEY_LENGTH)) return key;
  const bound = key === '' ? { min_length: 1 } : { max_length: MAX_KEY_LENGTH };
  const msg = `String should have at ${key === '' ? 'least 1 character' : `most ${MAX_KEY_LENGTH} characters`}`;
  const type = key === '' ? 'string_too_short' : 'string_too_long';
  return { detail: [{ type, loc: ['header', 'idempotency-key'], msg, ctx: bound }] };
}

/**
 * Runs `work` once for each caller and key within 24 hours. Only success is stored: a refusal frees the key, so that a
 * request can be sent again once its reason is gone. After a failure the same request can be sent again too, and no
 * other: whether it was done is not known where the database broke off. `work` makes its resource under the id it is
 * given: a repetition after a crash or a failure is given the same, and finds what was made.
 */
export async function onceOnly(
  app: App,
  request: { caller: string; key: string; endpoint_id: string; input: unknown },
  work: (resource_id: string) => Promise<Answer>,
): Promise<Answer> {
  const { caller, key } = request;
  const holder = app.instance.id;
  const drawn = newId();
  /** Where that fails too, the key is free with the end of this daemon, or after a minute; why the request failed matters more. */
  const settle = (freed: Promise<void>) =>
    freed.catch((error: unknown) =>
      app.log.warn({ err: error, endpoint: request.endpoint_id }, 'a key could not be freed'),
    );
  const giveUp = (resource_id: string) =>
    settle(giveUpIdempotent(app.db.query, { caller, key, resource_id }));
  await app.instance.alive();
  const claim = await claimIdempotent(app.db, {
    caller,
    key,
    request_hash: hashOf(request.endpoint_id, request.input),
    resource_id: drawn,
    holder,
    now_ms: app.clock.ms(),
    retention_seconds: RETENTION_SECONDS,
    in_progress_seconds: IN_PROGRESS_SECONDS,
  }).catch(async (error: unknown) => {
    await giveUp(drawn);
    throw error;
  });
  if (claim.state === 'mismatch') throw new Refusal('idempotency_mismatch');
  if (claim.state === 'in_progress')
    throw new Refusal('idempotency_in_progress', {
      retry_after:
        claim.free_in_ms === null
          ? RETRY_AFTER_SECONDS
          : Math.max(RETRY_AFTER_SECONDS, Math.ceil(claim.free_in_ms / 1000)),
    });
  if (claim.state === 'answered')
    return {
      status: claim.status,
      headers: { 'content-type': 'application/json', 'idempotency-replayed': 'true' },
      body: claim.body,
    };
  let answer: Answer;
  try {
    answer = await work(claim.resource_id);
  } catch (error) {
    if (error instanceof Refusal && !claim.again)
      await settle(releaseIdempotent(app.db.query, { caller, key, holder }));
    else await giveUp(claim.resource_id);
    throw error;
  }
  try {
    await answerIdempotent(app.db.query, { caller, key, status: answer.status, body: String(answer.body) });
  } catch (error) {
    // It is done: the caller must hear so, even where a repetition will not be known as one.
    app.log.error({ err: error, endpoint: request.endpoint_id }, 'an answer could not be stored for its key');
  }
  return answer;
}

function hashOf(endpoint_id: string, input: unknown): string {
  const text = JSON.stringify([endpoint_id, input], (_, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value,
  );
  return createHash('sha256').update(text).digest('hex');
}
