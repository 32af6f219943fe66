// `gatewayd notify test`: sends a test message to each address of `notify` and to `heartbeat_url`, and says what each answered; no database is needed.
import { openMail } from '../mail/mail.ts';
import { sendTests } from '../notify/notify.ts';
import { createLog } from '../process/log.ts';
import { systemRuntime } from '../process/runtime.ts';
import { ConfigError } from '../settings/config.ts';
import { configAtHome } from './options.ts';

const EXIT_FAILURE = 1;

/** Prints a line for each address, or with `json` one object; exits 1 where one took nothing. Throws ConfigError where there is none. */
export async function notifyTest(options: Record<string, unknown> & { json?: boolean }): Promise<void> {
  const { config } = configAtHome(options, 'writes');
  if (config.notify.length === 0 && config.heartbeat_url === undefined)
    throw new ConfigError('the setting notify names no address; see `gatewayd start --help`');
  const log = createLog({ level: 'silent' });
  const clock = { ms: Date.now };
  const mail = openMail({ config, log, clock });
  const results = await sendTests({ config, mail, clock, runtime: systemRuntime });
  mail.close();
  if (options.json)
    process.stdout.write(
      `${JSON.stringify({ results: results.map(({ to, fault }) => ({ to, ok: fault === null, error: fault })) })}\n`,
    );
  else
    for (const { to, fault } of results) {
      const where =
        to.startsWith('mailto:') && !config.smtp_url
          ? ` (no smtp_url is set: it is in ${config.data_dir}/outbox)`
          : '';
      process.stdout.write(fault === null ? `ok      ${to}${where}\n` : `failed  ${to}: ${fault}\n`);
    }
  if (results.some(({ fault }) => fault !== null)) process.exitCode = EXIT_FAILURE;
}
