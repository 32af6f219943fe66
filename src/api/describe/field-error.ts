// One value refused in pydantic's words, and the builder of fields that coerce what the wire carries.
import { z } from 'zod';

/** Why a value is not acceptable: `type` and `msg` as FastAPI says them, `ctx` the numbers in the message. */
export class FieldError {
  readonly type: string;
  readonly msg: string;
  readonly ctx: Record<string, unknown> | undefined;
  constructor(type: string, msg: string, ctx?: Record<string, unknown>) {
    this.type = type;
    this.msg = msg;
    this.ctx = ctx;
  }
}

export const missing = (): FieldError => new FieldError('missing', 'Field required');

/**
 * A field that reads what the wire carries: `read` gets any JSON value (or the text of a path or query) and
 * returns the parsed value or a FieldError. `schema` is what the documents say about it. An absent value is `missing`.
 */
export function coerced<Out, In = Out>(
  schema: Record<string, unknown>,
  read: (input: unknown) => Out | FieldError,
): z.ZodType<Out, In> {
  const field = z.unknown().transform((input, context) => {
    const result = input === undefined ? missing() : read(input);
    if (!(result instanceof FieldError)) return result;
    const { type, msg, ctx } = result;
    context.issues.push({ code: 'custom', message: msg, params: { type, ctx }, input });
    return z.NEVER;
  });
  // The builder cannot know what `read` accepts; the caller says it by `In`.
  return field.meta(schema) as unknown as z.ZodType<Out, In>;
}
