// `gatewayd backup check`: says whether a backup could be restored, without restoring it.
import { resolve } from 'node:path';
import { type CheckedBackup, checkBackup } from '../backup/check.ts';
import { openBackup } from '../backup/restore.ts';
import { EXIT } from '../process/failure.ts';
import { takeOwner } from '../process/owner.ts';
import { passphraseOf } from './backup.ts';
import { interruptible } from './interrupt.ts';
import { configOf } from './options.ts';
import { backupTime } from './restore.ts';
import { lawLines } from './verify.ts';

export interface CheckFlags {
  passphraseStdin?: boolean;
  json?: boolean;
}

/** Prints what was found, and sets the exit code: 0, or 65 where a law is broken. */
export async function backupCheck(
  file: string,
  options: Record<string, unknown> & CheckFlags,
): Promise<void> {
  const { config } = configOf(options);
  process.umask(0o077);
  const passphrase = await passphraseOf(config, options);
  // As the user who runs the command: a backup may lie where root alone may read.
  const handle = openBackup(resolve(file));
  // What is written meanwhile lies in the data directory.
  takeOwner(config, 'reads');
  const now = Math.floor(Date.now() / 1000);
  const checked = await interruptible((signal) =>
    checkBackup({ config, file: resolve(file), handle, passphrase, now, signal }),
  );
  const { header, ...rest } = checked;
  const { scrypt: _, ...about } = header;
  process.stdout.write(
    options.json ? `${JSON.stringify({ ...about, ...rest })}\n` : `${linesOf(checked).join('\n')}\n`,
  );
  if (!checked.ok) process.exitCode = EXIT.broken_data;
}

const OF_SECRET: Record<CheckedBackup['secret'], string> = {
  'in the backup': 'the secret of the deployment is in it: the passphrase is all that a restore needs',
  'set here': 'the secret of the deployment is not in it, but set here: keep that elsewhere, too',
  missing:
    'the secret of the deployment is neither in it nor set here: a restore needs it, or --new-secret where it is lost',
  'another is set here':
    'the secret of the deployment is not in it, and another one is set here: a restore needs that of its time',
};

function linesOf({ header, bytes, encrypted, secret, laws, ok }: CheckedBackup): string[] {
  const broken = laws.filter(({ count }) => count > 0);
  const left_out = laws.filter(({ count, unchecked }) => count === 0 && unchecked.length > 0);
  return [
    `${backupTime(header)}: ${bytes} bytes, ${encrypted ? 'encrypted' : 'not encrypted'}, whole`,
    ...[...broken, ...left_out].flatMap(lawLines),
    `${laws.length} laws checked: ${broken.length === 0 ? 'none is broken' : `${broken.length} broken`}${
      left_out.length === 0 ? '' : `, ${left_out.length} left out in part, which need the secret`
    }`,
    OF_SECRET[secret],
    !ok
      ? 'it would be restored with --accept-broken only'
      : secret === 'in the backup' || secret === 'set here'
        ? 'it can be restored'
        : 'it is sound, as far as that can be known without the secret',
  ];
}
