// The profile of the sandbox: how other commands reach it while it runs.
import type { Context } from '../engine/command.ts';
import { GwError, usage } from '../engine/errors.ts';
import type { Store } from '../engine/profile.ts';
import type { Sandbox } from './sandbox.ts';

const DEFAULT_NAME = 'dev';

async function profileOf(context: Context): Promise<{ store: Store; name: string }> {
  const { store, profile } = await context.settings();
  return { store, name: profile.origin === 'profile' ? DEFAULT_NAME : profile.value };
}

const hintFor = (name: string): string => (name === DEFAULT_NAME ? 'gw dev' : `gw dev --profile ${name}`);

/** Refuses a profile that holds something else, and one whose sandbox runs. */
export async function requireFree(context: Context): Promise<void> {
  const { store, name } = await profileOf(context);
  const stored = store.read(name);
  if (Object.keys(stored).length === 0) return;
  if (stored.sandbox === undefined)
    throw usage(
      `the profile ${name} is used for ${stored.url ?? 'something else'}`,
      'give another: --profile NAME',
    );
  // POST without a kind is answered with 404 by a sandbox that runs.
  const runs = await fetch(stored.sandbox, { method: 'POST', body: '{}' }).then(
    () => true,
    () => false,
  );
  if (runs)
    throw new GwError('conflict', `a sandbox with the profile ${name} is running`, {
      code: 'sandbox_running',
      hint: 'end it, or give another name: --profile NAME',
    });
}

/** Stores how to reach the sandbox; returns what removes it again. */
export async function announce(
  context: Context,
  sandbox: Sandbox,
): Promise<{ name: string; remove(): Promise<void> }> {
  const { store, name } = await profileOf(context);
  const { url, token, api_key, email, trigger_url } = sandbox;
  await store.write(name, { url, token, api_key, email, sandbox: trigger_url });
  return { name, remove: () => store.remove(name) };
}

/** Where to ask for a trigger. Throws GwError where no sandbox was started. */
export async function sandboxUrl(context: Context): Promise<string> {
  const { store, name } = await profileOf(context);
  const { sandbox } = store.read(name);
  if (sandbox !== undefined) return sandbox;
  throw noSandbox(name);
}

/** The profile by which other commands reach it. */
export const profileName = async (context: Context): Promise<string> => (await profileOf(context)).name;

const noSandbox = (name: string): GwError =>
  new GwError('unreachable', 'no sandbox is running', {
    code: 'no_sandbox',
    hint: `start one in another terminal: ${hintFor(name)}`,
  });

export async function notRunning(context: Context): Promise<GwError> {
  return noSandbox(await profileName(context));
}
