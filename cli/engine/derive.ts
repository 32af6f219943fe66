// A command made of an endpoint's description: its flags, its positional values, its question, its reply printed.
import { writeFileSync } from 'node:fs';
import type { Confirm, Endpoint, Media } from '../../src/api/describe/endpoint.ts';
import type { EndpointId } from '../../src/api/endpoints/api.ts';
import { commandOf, flagOf } from '../../src/api/project/commands.ts';
import { type Presented, presented } from '../output/columns.ts';
import { print, say } from '../output/io.ts';
import { cleanLines } from '../output/text.ts';
import { printObject, printReply } from '../output/view.ts';
import type { Command, Context, Input } from './command.ts';
import { usage } from './errors.ts';
import { flagsOf } from './flags.ts';
import { pageFlags, printPages } from './pages.ts';

export interface Extras {
  /** Another name than the endpoint's own. */
  path?: string;
  /** After the reply was printed: stores a new key, says what comes next. */
  after?: (reply: never, context: Context) => Promise<void> | void;
}

/** The command that calls `endpoint`: one that prints a reply, or one that writes a page or an image. */
export function derive(endpoint: Endpoint, { path: name, after }: Extras = {}): Command {
  const { path, args } = commandOf(endpoint) ?? { path: '', args: [] };
  const { examples, ...view }: Presented = presented[endpoint.id as EndpointId] ?? {};
  const isRaw = 'media' in endpoint.response;
  return {
    endpoints: [endpoint],
    input: endpoint,
    args,
    view,
    examples: examples ?? examplesOf(endpoint, name ?? path, args),
    ...(isRaw
      ? { flags: [output], fields: ['content_type', 'text', 'base64'] }
      : { flags: pageFlags(endpoint, view) }),
    async run(context) {
      const { input, own } = await context.input();
      if (context.globals.isOn('dry-run')) return context.showRequest(endpoint, input);
      await confirm(endpoint.confirm, context, input);
      if (pageFlags(endpoint, view).length > 0) return printPages(context, endpoint, { input, own, view });
      const reply = await context.call(endpoint, input);
      if (isRaw)
        return writeRaw(context, reply as string | Uint8Array, endpoint.response as Media, own.output);
      await printReply(context.io, reply, view);
      await after?.(reply as never, context);
    },
  };
}

/** Asks what the description wants asked; nothing where its conditions do not hold. */
export async function confirm(asked: Confirm | undefined, context: Context, input: Input): Promise<void> {
  if (!asked) return;
  const fields: Record<string, unknown> = { ...input.params, ...input.query, ...input.body };
  const hold = (values: Readonly<Record<string, unknown>>) =>
    Object.entries(values).every(([field, value]) => fields[field] === value);
  if ((asked.when && !hold(asked.when)) || (asked.unless && hold(asked.unless))) return;
  const filled = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_, field: string) => String(fields[field]));
  await context.confirm(filled(asked.question), asked.type === undefined ? undefined : filled(asked.type));
}

const output = {
  field: 'output',
  name: 'output',
  place: 'own',
  kind: 'text',
  value: 'path',
  help: 'write the reply to this file',
} as const;

/** Writes a reply that is no JSON to stdout or a file. */
function writeRaw({ io }: Context, reply: string | Uint8Array, { media }: Media, path: unknown): void {
  if (typeof path === 'string') {
    writeFileSync(path, reply);
    say(io, `${media} in ${path}`);
  }
  if (io.json !== false) {
    const body =
      typeof reply === 'string' ? { text: reply } : { base64: Buffer.from(reply).toString('base64') };
    printObject(io, { content_type: media, ...body });
  } else if (typeof path !== 'string') {
    if (typeof reply === 'string') print(io, io.stdout.isTTY ? cleanLines(reply) : reply);
    else if (io.stdout.isTTY) throw usage('a terminal cannot show this image', 'add --output FILE');
    else io.stdout.write(reply);
  }
}

/** The endpoint's example as command lines: values in braces in capitals, secrets from stdin. */
function examplesOf(endpoint: Endpoint, path: string, args: readonly string[]): string[] {
  const { params, query, body } = endpoint.example ?? {};
  const fields: Record<string, unknown> = { ...params, ...query, ...body };
  const secrets = new Set(flagsOf(endpoint).flatMap(({ field, secret }) => (secret ? [field] : [])));
  const text = (field: string): string =>
    secrets.has(field)
      ? '-'
      : String(fields[field] ?? `{${field}}`).replaceAll(/\{(\w+)\}/g, (_, name: string) =>
          name.toUpperCase(),
        );
  const placed = args.map((field) => ` ${quoted(text(field))}`).join('');
  const flags = Object.keys(fields)
    .filter((field) => !args.includes(field))
    .map(
      (field) =>
        ` ${flagOf(endpoint, field, typeof fields[field] === 'string' ? text(field) : fields[field])}`,
    )
    .join('');
  const line = `gw ${path}${placed}${flags}`;
  const isImage = 'media' in endpoint.response && endpoint.response.media === 'image/png';
  return [isImage ? `${line} --output image.png` : line, `${line} --json`];
}

const quoted = (text: string): string => (/^[\w.,:/@+-]+$/.test(text) ? text : `'${text}'`);
