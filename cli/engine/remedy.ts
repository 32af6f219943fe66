// The remedy of a refusal as a command: the call that it names, as `gw` makes it.
import { flagName } from '../../src/api/project/commands.ts';
import { remedyOf } from '../../src/api/project/remedies.ts';
import { type ErrorCode, errorCodes } from '../../src/errors.ts';
import type { Registry } from './command.ts';
import type { GwError } from './errors.ts';
import { allFlags } from './input.ts';
import { inCommands } from './plain-words.ts';

/**
 * Completes the hint of a refusal: what the service says, else what is known of the code, else how long to wait;
 * with the command of the operation that helps. `Set a receive wallet: gw wallet set BLOCKCHAIN ADDRESS`.
 */
export async function addRemedy({ details }: GwError, registry: Registry): Promise<void> {
  const { code = '', hint, operation, retry_after } = details;
  const known = Object.hasOwn(errorCodes, code) ? remedyOf(code as ErrorCode) : undefined;
  const given = hint ?? known?.hint;
  const later = retry_after == null ? undefined : `try again in ${retry_after} s`;
  const advice =
    given === undefined ? later : (await inCommands(given, registry)).replace(WAIT, later ?? '$&');
  const line = await lineOf(operation ?? known?.next?.operation, registry);
  details.hint = advice && line ? `${advice}: ${line}` : (advice ?? line);
}

/** How the service says how long to wait. */
const WAIT = /Wait Retry-After seconds, then send the same request again/;

const capitals = (name: string): string => name.toUpperCase().replaceAll('-', '_');

/** The command of an endpoint with the values that it needs. */
async function lineOf(operation: string | undefined, registry: Registry): Promise<string | undefined> {
  const entry = registry.entries.find(({ endpoint }) => endpoint !== undefined && endpoint === operation);
  if (!entry) return undefined;
  const command = await entry.load();
  const { args = [], input } = command;
  const placed = args.map((field) => capitals(input ? flagName(input, field) : field));
  const required = allFlags(command)
    .filter((flag) => flag.required && !args.includes(flag.field))
    .map(({ name }) => `--${name} ${capitals(name)}`);
  return ['gw', entry.path, ...placed, ...required].join(' ');
}
