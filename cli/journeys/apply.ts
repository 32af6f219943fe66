// `gw apply`: makes the shop what a file says, with what changes shown first; a second run changes nothing.
import { listGateways } from '../../src/api/endpoints/buyer.ts';
import {
  getMerchantAccount,
  getMerchantWallets,
  setMerchantWallet,
  updateMerchantAccount,
} from '../../src/api/endpoints/merchant.ts';
import { createUnit, deleteUnit, listUnits, updateUnit } from '../../src/api/endpoints/units.ts';
import type { Command, Context } from '../engine/command.ts';
import { confirm } from '../engine/derive.ts';
import { GwError, toGwError, usage } from '../engine/errors.ts';
import { unread } from '../engine/input.ts';
import { type Color, type Io, paint, print, readText, say } from '../output/io.ts';
import { clean } from '../output/text.ts';
import { printReply } from '../output/view.ts';
import { readShop } from './parts/shop-file.ts';
import { type Change, planOf, readService, type Step } from './parts/shop-plan.ts';

export const command: Command = {
  endpoints: [
    getMerchantAccount,
    getMerchantWallets,
    listUnits,
    listGateways,
    updateMerchantAccount,
    setMerchantWallet,
    createUnit,
    updateUnit,
    deleteUnit,
  ],
  file: 'the shop as YAML or JSON; - reads stdin',
  about: `Reads \`account\`, \`wallets\` and \`units\` of a file, shows what differs from the service, and changes that. gw export writes such a file.

What the file leaves out stays as it is, but \`units\` names all there shall be: one that is not in it is deleted. A unit is known by its slug, else by its title. A member without a value is removed. Whatever is taken away, and every wallet that is replaced, is asked about first; --yes agrees. Secrets are in no such file.

Where something fails, what was done before is done: the same command again does the rest.`,
  fields: ['dry_run', 'changes', 'path', 'action', 'from', 'to', 'done'],
  writes: true,
  examples: [
    'gw apply -f shop.yaml',
    'gw apply -f shop.yaml --dry-run',
    'gw export | gw apply -f - --json changes',
    'gw apply -f shop.yaml --yes --json',
  ],
  async run(context) {
    const { io, globals } = context;
    const dry_run = globals.isOn('dry-run');
    const path = globals.text('file');
    if (path === undefined)
      throw new GwError('usage', 'missing: --file', {
        code: 'missing_input',
        hint: 'gw apply -f shop.yaml; gw export > shop.yaml writes one of what there is',
      });
    const steps = await planned(context, await textOf(path, io), path === '-' ? 'stdin' : path);
    const changes = steps.flatMap((step) => step.changes);
    const isPerson = io.json === false;
    if (isPerson) for (const change of changes) printChange(io, change);
    if (!dry_run && steps.length > 0) {
      await agreeTo(context, steps);
      await carryOut(context, steps, changes);
    }
    if (!isPerson) return printReply(io, { dry_run, changes }, { list: 'changes' });
    const count = `${changes.length} ${changes.length === 1 ? 'change' : 'changes'}`;
    say(
      io,
      changes.length === 0
        ? 'Nothing to change'
        : dry_run
          ? `${count}, not made because of --dry-run`
          : `${count} made`,
    );
  },
};

/** The calls that the file needs. A person reads what is wrong with it line by line. */
async function planned(context: Context, text: string, name: string): Promise<Step[]> {
  const { io } = context;
  try {
    return await planOf(context, readShop(text, name), await readService(context));
  } catch (error) {
    const { errors } = (error instanceof GwError && error.details.extra) || {};
    if (io.json !== false || !Array.isArray(errors) || errors.length < 2) throw error;
    for (const { line, message, hint } of errors)
      say(io, clean(`${name}, line ${line}: ${message}${hint === undefined ? '' : `; ${hint}`}`));
    throw usage(`${errors.length} things are wrong with ${name}: nothing was changed`);
  }
}

async function textOf(path: string, io: Io): Promise<string> {
  try {
    return await readText(path, io);
  } catch (error) {
    throw unread('--file', path, error);
  }
}

const signs: Record<Change['action'], [sign: string, color: Color]> = {
  add: ['+', 'green'],
  change: ['~', 'yellow'],
  remove: ['-', 'red'],
};

function printChange(io: Io, { path, action, from, to }: Change): void {
  const [sign, color] = signs[action];
  const values =
    action === 'add' ? shown(to) : action === 'remove' ? shown(from) : `${shown(from)} → ${shown(to)}`;
  print(io, `${paint(io, color, sign)} ${clean(path)}: ${clean(values)}`);
}

/** Pictures in part. */
const shown = (value: unknown): string =>
  value === null
    ? 'all'
    : Array.isArray(value)
      ? value.join(', ')
      : String(value).replace(/^(data:[^,]*),.*$/s, '$1,…');

/** Asks once about all that is lost, and what the description of a call wants asked, before any is made. */
async function agreeTo(context: Context, steps: readonly Step[]): Promise<void> {
  const takes = steps.flatMap((step) => step.takes);
  if (takes.length > 0) await context.confirm(`${takes.join('; ')}. Continue?`);
  for (const { endpoint, input } of steps)
    if (endpoint.id !== deleteUnit.id)
      await confirm(endpoint.confirm, context, { params: {}, query: {}, body: {}, ...input });
}

/** Makes the calls one after the other. Throws what stopped it, with what was done and what was not. */
async function carryOut(context: Context, steps: readonly Step[], changes: readonly Change[]): Promise<void> {
  for (const step of steps)
    try {
      const reply: unknown = await context.call(step.endpoint, step.input);
      if (step.also)
        await context.call(updateUnit, {
          params: { unit_id: (reply as { id: string }).id },
          body: step.also,
        });
      for (const change of step.changes) change.done = true;
    } catch (error) {
      const known = toGwError(error);
      if (!known) throw error;
      throw stopped(context.io, known, step, changes);
    }
}

const REPEAT = 'the same command again does what is left';

function stopped(io: Io, error: GwError, step: Step, changes: readonly Change[]): GwError {
  const done = changes.filter((change) => change.done);
  if (io.json === false)
    for (const change of changes) say(io, `${change.done ? 'done    ' : 'not done'} ${clean(change.path)}`);
  const paths = step.changes.map(({ path }) => path).join(', ');
  const { extra, hint, ...details } = error.details;
  // What an answer that was lost advises is another command.
  const advice = error.kind === 'unknown' ? undefined : hint;
  return new GwError(
    error.kind,
    `${paths}: ${error.message} (${done.length} of ${changes.length} changes are made)`,
    {
      ...details,
      hint: advice === undefined ? REPEAT : `${advice}; ${REPEAT}`,
      extra: { ...(error.kind === 'unknown' ? {} : extra), changes },
    },
  );
}
