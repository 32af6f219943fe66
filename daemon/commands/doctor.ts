// `gatewayd doctor`: examines a deployment, running or stopped, and says what to do about what is wrong. Changes nothing, but for
// the one row that is written to know that the database takes writes.
import { backups } from '../doctor/backups.ts';
import { database } from '../doctor/books.ts';
import { providers } from '../doctor/chains.ts';
import { type Check, type Examined, type Finding, failed, type Subject } from '../doctor/finding.ts';
import { heartbeat, mail, notices, publicUrl, timeServer, wayOut } from '../doctor/outside.ts';
import { freeDisk, rights, secretStrength, settingsRead } from '../doctor/place.ts';
import { ConfigError, type Effective } from '../settings/config.ts';
import { configAtHome } from './options.ts';

const EXIT_FAILED = 1;
const EXIT_CANNOT_RUN = 2;

/** In the order of what is shown. */
const checks: Partial<Record<Subject, Check>> = {
  settings: settingsRead,
  files: rights,
  secret: secretStrength,
  disk: freeDisk,
  database,
  backup: backups,
  provider: providers,
  clock: timeServer,
  'public url': publicUrl,
  'way out': wayOut,
  mail,
  notify: notices,
  heartbeat,
};

/** Prints a line for each finding, and sets the exit code: 0, 1 where something failed, 2 where it cannot be examined. */
export async function doctor(
  options: Record<string, unknown> & { ntp?: string; json?: boolean },
): Promise<void> {
  const effective = settingsOf(options);
  if (effective === undefined) return;
  const examined: Examined = { ...effective, now: Math.floor(Date.now() / 1000), ntp: options.ntp };
  const found = await Promise.all(
    (Object.entries(checks) as [Subject, Check][]).map(([of, check]) =>
      check(examined).catch((error: unknown) => [
        failed(of, `it cannot be examined: ${(error as Error).message}`, 'see the sentence before'),
      ]),
    ),
  );
  const findings = found.flat();
  const is_ok = findings.every(({ status }) => status !== 'failed');
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ ok: is_ok, findings }, null, 2)}\n`
      : `${[...findings.flatMap(linesOf), '', summaryOf(findings)].join('\n')}\n`,
  );
  if (!is_ok) process.exitCode = EXIT_FAILED;
}

function settingsOf(options: Record<string, unknown> & { json?: boolean }): Effective | undefined {
  try {
    return configAtHome(options, 'reads');
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { message } = error;
    if (options.json)
      process.stdout.write(`${JSON.stringify({ ok: false, findings: [], error: message })}\n`);
    process.stderr.write(`gatewayd: ${message}\n`);
    process.exitCode = EXIT_CANNOT_RUN;
    return undefined;
  }
}

function linesOf({ of, status, says, fix }: Finding): string[] {
  const line = `${status.padEnd(8)} ${of.padEnd(18)} ${says}`;
  return fix === null ? [line] : [line, `${' '.repeat(28)}what to do: ${fix}`];
}

function summaryOf(findings: readonly Finding[]): string {
  const count = (status: Finding['status']) => findings.filter((one) => one.status === status).length;
  const warnings = count('warning');
  const summary = `${findings.length} lines: ${count('failed')} failed, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`;
  return count('ok') === findings.length ? summary : `${summary}; gatewayd help runbook has more on each`;
}
