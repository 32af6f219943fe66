// What an operator does about a notice: the command to run, and where to read on.
import { anchorOf, RUNBOOK_PATH } from '../runbook/sections.ts';
import { endCauses } from './names.ts';

/** The section of the runbook about a notice; undefined of what is over, and of what no one is notified of any more. */
export function runbookUrl(cause: string, public_url: string): string | undefined {
  const is_end = (endCauses as readonly string[]).includes(cause);
  const anchor = is_end ? undefined : anchorOf(cause);
  return anchor === undefined ? undefined : `${public_url}${RUNBOOK_PATH}#${anchor}`;
}

/** One line for each thing to do, in the order of the notices. */
export function stepLines(
  notices: readonly { cause: string; command: string; is_over?: true }[],
  public_url: string,
): string[] {
  const lines = notices.flatMap(({ cause, command, is_over }) => {
    const url = is_over ? undefined : runbookUrl(cause, public_url);
    return url === undefined ? [] : [`What to do: ${command}, then ${url}`];
  });
  return [...new Set(lines)];
}
