// What the service says besides its answer, on stderr: a name that it ignored does not pass unseen, nor does a warning.
import type { Answer } from '../../src/api/client/call.ts';
import { IGNORED_HEADER } from '../../src/api/read/ignored.ts';
import { type Io, printJson, say } from '../output/io.ts';
import { clean } from '../output/text.ts';

/** Says it of an answer that is no refusal, as JSON where JSON is wanted. `--quiet` is silent. */
export function warnOfIgnored(io: Io, { ok, headers }: Pick<Answer, 'ok' | 'headers'>): void {
  const names = headers.get(IGNORED_HEADER);
  if (!ok || !names || io.quiet) return;
  warn(io, `the service ignored: ${clean(names)}`, { ignored: names.split(', ') });
}

/** Says the `warning` of an answer, whatever command called for it. */
export function warnOfReply(io: Io, reply: unknown): void {
  const { warning } = (typeof reply === 'object' && reply !== null ? reply : {}) as { warning?: unknown };
  if (typeof warning === 'string' && !io.quiet) warn(io, clean(warning), {});
}

function warn(io: Io, warning: string, more: object): void {
  if (io.json === false) say(io, `gw: ${warning}`);
  else printJson({ ...io, stdout: io.stderr }, { warning, ...more });
}
