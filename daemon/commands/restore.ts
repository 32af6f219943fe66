// `gatewayd restore`: puts a backup into an empty place, once the laws of the books hold in it.
import { resolve } from 'node:path';
import { type Restored, restoreBackup } from '../backup/restore.ts';
import { prepareDataDir } from '../process/data-dir.ts';
import { EXIT } from '../process/failure.ts';
import { lockDatabase } from '../process/instance-lock.ts';
import { passphraseOf } from './backup.ts';
import { interruptible } from './interrupt.ts';
import { configOf } from './options.ts';
import { lawLines } from './verify.ts';

export interface RestoreFlags {
  passphraseStdin?: boolean;
  acceptBroken?: boolean;
  json?: boolean;
}

/** Prints what was restored, and sets the exit code: 0, or 65 where a law is broken and nothing was put in place. */
export async function restore(file: string, options: Record<string, unknown> & RestoreFlags): Promise<void> {
  const { config } = configOf(options);
  const passphrase = await passphraseOf(config, options);
  prepareDataDir(config);
  const lock = lockDatabase(config.database_url);
  try {
    const restored = await interruptible((signal) =>
      restoreBackup({
        config,
        file: resolve(file),
        passphrase,
        accept_broken: options.acceptBroken === true,
        now: Math.floor(Date.now() / 1000),
        signal,
      }),
    );
    const { laws, in_place } = restored;
    const lines = options.json
      ? [JSON.stringify({ ...restored.header, laws, in_place, secret_restored: restored.secret_restored })]
      : linesOf(restored);
    process.stdout.write(`${lines.join('\n')}\n`);
    if (!in_place) process.exitCode = EXIT.broken_data;
  } finally {
    lock.release();
  }
}

function linesOf({ header, laws, in_place, secret_restored }: Restored): string[] {
  const broken = laws.filter(({ ok }) => !ok);
  const at = new Date(header.created_at * 1000).toISOString().replace('.000', '');
  return [
    `backup of ${at} (${header.network || 'never started'}, ${header.kind}, schema ${header.schema.at(-1)})`,
    ...broken.flatMap(lawLines),
    `${laws.length} laws checked: ${broken.length === 0 ? 'none is broken' : `${broken.length} broken or unchecked`}`,
    ...(in_place
      ? [
          `restored${secret_restored ? ', with the secret of the deployment' : ''}; \`gatewayd start\` reads the chains on from there`,
          'what happened since the backup is known from the chains only: payments for invoices made since are listed as unmatched',
        ]
      : ['nothing was restored; --accept-broken puts it in place as it is']),
  ];
}
