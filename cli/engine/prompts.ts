// Questions to a person for what a command line left out. On stderr, so that stdout stays data.

import { cleanText } from '../../src/clean.ts';
import type { Io } from '../output/io.ts';
import { withTerminal } from '../output/progress.ts';
import { clean } from '../output/text.ts';
import { shortId } from '../output/value.ts';
import type { Flag } from './flag.ts';

/** What is set, and not what is known: a slip would lock its owner out. Sign-in asks for itself. */
const NEW_PASSWORD = /^(new_)?password$/;

/** Asks until the value is one that `faultOf` says nothing against. */
export const ask = (
  flag: Flag,
  io: Io,
  /** What can be chosen, where the service knows: gateway ids for `chain`, and so on. */
  known: readonly string[] | undefined,
  faultOf: (value: unknown) => Promise<string | undefined>,
): Promise<unknown> => withTerminal(io, () => askFor(flag, io, known, faultOf));

async function askFor(
  flag: Flag,
  io: Io,
  known: readonly string[] | undefined,
  faultOf: (value: unknown) => Promise<string | undefined>,
): Promise<unknown> {
  const { checkbox, confirm, input, password, select } = await import('@inquirer/prompts');
  const valueIn = (text: string) => (flag.kind === 'list' ? text.split(',').map(cleanText) : text.trim());
  const context = { output: io.stderr, input: io.stdin };
  const name = flag.name.replaceAll('-', ' ');
  // Help made of the name alone needs it only once.
  const message = clean(flag.help.startsWith(name) ? flag.help : `${name} – ${flag.help}`);
  if (flag.secret) {
    const validate = async (text: string) => (await faultOf(text)) ?? true;
    const given = await password({ message, mask: true, validate }, context);
    if (NEW_PASSWORD.test(flag.field))
      await password(
        {
          message: `${name} once more`,
          mask: true,
          validate: (text) => text === given || 'not the same; Ctrl-C begins again',
        },
        context,
      );
    return given;
  }
  if (flag.kind === 'boolean') return confirm({ message, default: false }, context);
  const choices = flag.choices ?? known;
  if (choices && choices.length > 0) {
    const options = choices.map((value) => ({ value, name: clean(value) }));
    if (flag.kind === 'list') return checkbox({ message, choices: options, required: true }, context);
    return select({ message, choices: options, loop: false }, context);
  }
  const validate = async (text: string) => (await faultOf(valueIn(text))) ?? true;
  return valueIn(await input({ message, required: true, validate }, context));
}

/** Whether a person agrees; with `type`, by typing that very word. An empty answer to yes or no is `otherwise`. */
export async function agree(
  question: string,
  type: string | undefined,
  io: Io,
  otherwise = false,
): Promise<boolean> {
  const { confirm, input } = await import('@inquirer/prompts');
  const context = { output: io.stderr, input: io.stdin };
  if (type === undefined) return confirm({ message: clean(question), default: otherwise }, context);
  const typed = await input({ message: `${clean(question)} Type ${clean(type)} to continue:` }, context);
  return [type, shortId(type)].includes(cleanText(typed));
}

/** A password, which is not shown. */
export async function askPassword(question: string, io: Io): Promise<string> {
  const { password } = await import('@inquirer/prompts');
  return password({ message: clean(question), mask: true }, { output: io.stderr, input: io.stdin });
}

/** A line of text; empty where a person gives none. */
export async function askText(question: string, io: Io): Promise<string> {
  const { input } = await import('@inquirer/prompts');
  return (await input({ message: clean(question) }, { output: io.stderr, input: io.stdin })).trim();
}

/**
 * Asks for a text and sets it; asks again while `fault` says what is wrong with it. An empty answer and the present one
 * change nothing.
 */
export async function askAndSet(
  question: string,
  current: string,
  fault: (text: string) => Promise<string | undefined>,
  io: Io,
): Promise<string> {
  const { input } = await import('@inquirer/prompts');
  const validate = async (text: string) => {
    const given = text.trim();
    return given === '' || given === current || clean((await fault(given)) ?? '') || true;
  };
  const message = clean(question);
  const given = current === '' ? {} : { default: clean(current) };
  const terminal = { output: io.stderr, input: io.stdin };
  return (await withTerminal(io, () => input({ message, ...given, validate }, terminal))).trim();
}
