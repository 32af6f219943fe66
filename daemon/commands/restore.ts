// `gatewayd restore`: puts a backup into an empty place, once the laws of the books hold in it.
import { resolve } from 'node:path';
import type { Replaced } from '../../data/lost-secret.ts';
import type { Header } from '../backup/container.ts';
import { openBackup, type Restored, restoreBackup } from '../backup/restore.ts';
import { prepareDataDir } from '../process/data-dir.ts';
import { EXIT } from '../process/failure.ts';
import { lockDatabase } from '../process/instance-lock.ts';
import { takeOwner } from '../process/owner.ts';
import type { Config } from '../settings/config.ts';
import { passphraseOf } from './backup.ts';
import { interruptible } from './interrupt.ts';
import { configOf } from './options.ts';
import { lawLines } from './verify.ts';

export interface RestoreFlags {
  passphraseStdin?: boolean;
  acceptBroken?: boolean;
  newSecret?: boolean;
  json?: boolean;
}

/** Prints what was restored, and sets the exit code: 0, or 65 where a law is broken and nothing was put in place. */
export async function restore(file: string, options: Record<string, unknown> & RestoreFlags): Promise<void> {
  const { config } = configOf(options);
  const passphrase = await passphraseOf(config, options);
  // As the user who runs the command: a backup may lie where root alone may read.
  const handle = openBackup(resolve(file));
  takeOwner(config);
  prepareDataDir(config);
  const lock = lockDatabase(config.database_url);
  try {
    const restored = await interruptible((signal) =>
      restoreBackup({
        config,
        file: resolve(file),
        handle,
        passphrase,
        accept_broken: options.acceptBroken === true,
        new_secret: options.newSecret === true,
        now: Math.floor(Date.now() / 1000),
        signal,
      }),
    );
    const { header, ...rest } = restored;
    const { in_place } = rest;
    const lines = options.json ? [JSON.stringify({ ...header, ...rest })] : linesOf(restored, config);
    process.stdout.write(`${lines.join('\n')}\n`);
    if (!in_place) process.exitCode = EXIT.broken_data;
  } finally {
    lock.release();
  }
}

export function backupTime({ created_at, network, kind, schema }: Header): string {
  const at = new Date(created_at * 1000).toISOString().replace('.000', '');
  return `backup of ${at} (${network || 'never started'}, ${kind}, schema ${schema.at(-1)})`;
}

/** What was sealed with the secret that is lost, and what to do about it. */
function replacedLines({ merchants, webhook_secrets, entries }: Replaced, config: Config): string[] {
  return [
    config.secret === undefined
      ? `the secret of the deployment is a new one, in ${config.data_dir}/secret: keep a copy elsewhere, or make backups with a passphrase`
      : 'the secret of the deployment is the one that is set here',
    `keys of ${merchants} merchants: shops continue with those they have for ten years, or until their merchants end them; \`gw account get\` shows a new one each`,
    `webhook secrets of ${webhook_secrets} merchants are new ones, so that shops refuse webhooks and signed returns until each merchant sets its own again (\`gw account update --webhook-secret …\`) or takes over the new one (\`gw account get\`); what was refused meanwhile is sent again with \`gw event resend\``,
    'the webhook secret of the platform key and of notices by https is a new one, unless webhook_secret is set: `gatewayd config --show-webhook-secret`',
    'sessions, links in mails and invites have ended: people sign in again, and `gatewayd invite` makes new ones',
    `${entries} entries of the ledger have hashes under a new key: what was changed in them before this restore can no longer be known`,
    'passwords of mail, tokens and keys of providers are settings, and in no backup: set them as they were',
  ];
}

function linesOf({ header, laws, in_place, secret_restored, replaced }: Restored, config: Config): string[] {
  const broken = laws.filter(({ ok }) => !ok);
  return [
    backupTime(header),
    ...broken.flatMap(lawLines),
    `${laws.length} laws checked: ${broken.length === 0 ? 'none is broken' : `${broken.length} broken or unchecked`}`,
    ...(in_place
      ? [
          `restored${secret_restored ? ', with the secret of the deployment' : ''}; \`gatewayd start\` reads the chains on from there`,
          ...(replaced === null ? [] : replacedLines(replaced, config)),
          'what happened since the backup is known from the chains only: payments for invoices made since are listed as unmatched',
        ]
      : ['nothing was restored; --accept-broken puts it in place as it is']),
  ];
}
