// What the service says it has ignored of a request, on stderr: a name that is mistyped does not pass unseen.
import type { Answer } from '../../src/api/client/call.ts';
import { IGNORED_HEADER } from '../../src/api/read/ignored.ts';
import { type Io, printJson, say } from '../output/io.ts';
import { clean } from '../output/text.ts';

/** Says it of an answer that is no refusal, as JSON where JSON is wanted. `--quiet` is silent. */
export function warnOfIgnored(io: Io, { ok, headers }: Pick<Answer, 'ok' | 'headers'>): void {
  const names = headers.get(IGNORED_HEADER);
  if (!ok || !names || io.quiet) return;
  const warning = `the service ignored: ${clean(names)}`;
  if (io.json === false) say(io, `gw: ${warning}`);
  else printJson({ ...io, stdout: io.stderr }, { warning, ignored: names.split(', ') });
}
