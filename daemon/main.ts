// The command line of the daemon. Commands are imported when they are run, so that help and version are instant.
import { Command, CommanderError } from 'commander';
import { addSettings } from './commands/options.ts';
import { startSmall } from './process/heap.ts';
import { VERSION } from './process/version.ts';

const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;
/** sysexits EX_CONFIG: configuration or environment must be repaired by the operator. */
const EXIT_CONFIG = 78;
/** sysexits EX_TEMPFAIL: what is missing may be there later, and a supervisor starts again. */
const EXIT_LATER = 75;

const YES = 'bring an older schema of PostgreSQL up to date though no backup of the last day is known';

const MOVE_HELP = `
Both databases are held against the laws of gatewayd verify and against each other before the
new one counts; ids, feeds and the places of their readers stay. Until then the old one stays as
it was: interrupted or killed, run the same command again. Afterwards set database_url and start;
no daemon starts on the old database any more.`;

const ROTATE_HELP = `
A secret in the data directory is replaced there, and running daemons follow. One that is set
in the settings is replaced in three steps:
  1. set the new one as secret and the old one as previous_secret, for every daemon, and
     restart them one after the other
  2. gatewayd secret rotate, with the same settings
  3. take previous_secret out of the settings
Sessions, mail links and invites that the old one has signed end after 8 days; webhooks of the
platform key carry a signature of each for 24 hours. With --at-once both end now.`;

const CHECK_HELP = `
The file must be whole, the passphrase right, the schema known, the database sound, and the laws of
\`gatewayd verify\` must hold. A backup of SQLite is unpacked into a directory of its own in data_dir,
one of PostgreSQL into a schema of its own on the server of database_url, in a transaction that is
rolled back: both need room for the database once more. Live data is neither read nor written.`;

/**
 * Runs one command line (`process.argv`); sets the exit code, and never throws. `onStarted` is called once what a start of the daemon
 * needs has run.
 */
export async function main(argv: readonly string[], onStarted?: () => void): Promise<void> {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that has enough (`| head -1`) is no failure, and no reason for a daemon to end.
    if (error.code === 'EPIPE') return;
    process.stderr.write(`gatewayd: the output cannot be written: ${error.message}\n`);
    process.exit(EXIT_FAILURE);
  });
  const program = commandLine(onStarted);
  try {
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = exitCodeOf(error);
  }
}

/** Every command with its flags. */
export function commandLine(onStarted?: () => void): Command {
  const program = new Command('gatewayd')
    .description(
      'Non-custodial crypto payment gateway: watches your own wallets and confirms what buyers pay.',
    )
    .version(VERSION, '-V, --version')
    .showSuggestionAfterError()
    .configureHelp({ sortSubcommands: false, showGlobalOptions: false })
    .exitOverride()
    .addHelpText(
      'after',
      '\nWhen something is wrong: gatewayd help runbook\n\nExamples:\n  gatewayd start\n  gatewayd start --network mainnet --database-url postgres://…\n  gatewayd config --json',
    );
  addSettings(
    program.command('start').description('run the daemon until SIGTERM; SIGHUP reads the settings again'),
  )
    .option('--yes', YES)
    .action(async (options) => {
      startSmall();
      await (await import('./commands/start.ts')).start(options, onStarted);
    });
  addSettings(program.command('migrate').description('bring the database schema up to date'))
    .option('--dry-run', 'only show what would be done')
    .option('--yes', YES)
    .action(async (options) => (await import('./commands/migrate.ts')).migrate(options));
  addSettings(
    program
      .command('reread')
      .description(
        'read a blockchain again, after a reorganisation too deep to follow or a reset of a test chain',
      )
      .argument('<blockchain>', 'its id, as `gatewayd config --all` lists them'),
  )
    .option(
      '--since <time>',
      'from this time on, ISO 8601 or Unix seconds; default: below all watched addresses',
    )
    .option('--dry-run', 'only show what would be done')
    .action(async (blockchain, options) =>
      (await import('./commands/reread.ts')).reread(blockchain, options),
    );
  addSettings(
    program
      .command('verify')
      .description(
        'check the books against their laws, read-only, also while a daemon is running; exits 0 or 65',
      ),
  )
    .option('--law <numbers>', 'only these, separated by commas')
    .option('--json', 'as one JSON object')
    .option('--quiet', 'no progress, and only laws that are broken')
    .option('--chain', 'also read the chains again and compare what they have for every watched address')
    .option('--since <time>', 'with --chain: nothing before this time, ISO 8601 or Unix seconds')
    .action(async (options) => (await import('./commands/verify.ts')).verify(options));
  addCare(program);
  addSettings(program.command('config').description('show the effective settings and where they come from'))
    .option('--json', 'as one JSON object')
    .option('--all', 'also those without a value, with their environment variables')
    .option('--show-webhook-secret', 'only the secret that signs webhooks of the platform key')
    .action(async (options) => (await import('./commands/config.ts')).config(options));
  addMove(program);
  addSecret(program);
  addInvite(program);
  addNotify(program);
  addAdmin(program);
  addHelp(program);
  return program;
}

function addAdmin(program: Command): void {
  const admin = program.command('admin').description('manage superusers and your own shop');
  addSettings(admin.command('create').description('create a superuser, or give one a new password'))
    .requiredOption('--email <address>', 'email address of the superuser')
    .option('--password-stdin', 'read the password from stdin; otherwise one is generated and shown')
    .option('--yes', 'change a user who is there without asking')
    .option('--json', 'as one JSON object')
    .action(async (options) => (await import('./commands/admin-create.ts')).adminCreate(options));
  addSettings(
    admin
      .command('house')
      .description("make a merchant the operator's own shop, without prepaid limit and fee")
      .argument('<email>', 'email address of its user, or the user id'),
  )
    .option('--off', 'make it a merchant like any other again')
    .option('--json', 'as one JSON object')
    .action(async (email, options) => (await import('./commands/admin-house.ts')).adminHouse(email, options));
}

function addCare(program: Command): void {
  addSettings(
    program
      .command('doctor')
      .description('check a deployment, running or stopped; exits 0, 1 (something failed) or 2'),
  )
    .option('--ntp <server>', 'compare the clock with this time server, too')
    .option('--json', 'as one JSON object')
    .action(async (options) => (await import('./commands/doctor.ts')).doctor(options));
  addBackup(program);
}

function addBackup(program: Command): void {
  const backup = addSettings(
    program
      .command('backup')
      .description('write a backup, also while the daemon runs')
      .argument('[file]', 'a new file; default: one named by the time, in backup.to'),
  )
    .option('--passphrase-stdin', 'encrypt it with a passphrase from stdin; default: backup.passphrase')
    .option('--json', 'as one JSON object')
    .action(async (file, options) => (await import('./commands/backup.ts')).backup(file, options));
  addSettings(
    backup
      .command('check')
      .description('say whether a backup could be restored, without restoring it; exits 0 or 65')
      .addHelpText('after', CHECK_HELP)
      .argument('<file>', 'a backup'),
  )
    .option('--passphrase-stdin', 'read the passphrase from stdin; default: backup.passphrase')
    .option('--json', 'as one JSON object')
    // What both commands know, the outer one takes.
    .action(async (file, _, command: Command) =>
      (await import('./commands/backup-check.ts')).backupCheck(file, command.optsWithGlobals()),
    );
  addSettings(
    program
      .command('restore')
      .description('restore a backup into an empty place, after verifying its books; exits 0 or 65')
      .argument('<file>', 'a backup'),
  )
    .option('--passphrase-stdin', 'read the passphrase from stdin; default: backup.passphrase')
    .option('--accept-broken', 'put it in place though laws of the books are broken')
    .option(
      '--new-secret',
      'the secret of a backup without a passphrase is lost: make another, and say what must be set again',
    )
    .option('--json', 'as one JSON object')
    .action(async (file, options) => (await import('./commands/restore.ts')).restore(file, options));
}

function addMove(program: Command): void {
  addSettings(
    program
      .command('move')
      .description(
        'move from SQLite to an empty PostgreSQL database, while no daemon runs; exits 0, 65, 74, 75 or 78',
      )
      .addHelpText('after', MOVE_HELP),
  )
    .option('--to <url>', 'postgres://user:password@host/name; default: the variable GATEWAYD_MOVE_TO')
    .option('--accept-broken', 'move the books even though laws are broken in them')
    .option('--back', 'return to the SQLite database, which lacks what was sold since the move')
    .option('--yes', 'with --back: confirms that every daemon on the new database has been stopped for good')
    .option('--json', 'as one JSON object')
    .action(async (options) => (await import('./commands/move.ts')).move(options));
}

function addSecret(program: Command): void {
  const secret = program.command('secret').description('the secret that seals stored keys and signs tokens');
  addSettings(
    secret
      .command('rotate')
      .description('replace it while daemons run; if interrupted, run it again; exits 0 or 78')
      .addHelpText('after', ROTATE_HELP),
  )
    .option('--new', 'read the new secret from stdin; default: a random one')
    .option('--at-once', 'the old one has leaked: what it has signed ends now, all sessions too')
    .option('--json', 'as one JSON object')
    .action(async (options) => (await import('./commands/secret-rotate.ts')).secretRotate(options));
}

function addInvite(program: Command): void {
  addSettings(
    program
      .command('invite')
      .description('invite the owner of an email address to sign up, when signup is invite')
      .argument('<email>', 'the address; the invite works for no other'),
  )
    .option('--days <number>', 'how long it works', '7')
    .option('--json', 'as one JSON object')
    .action(async (email, options) => (await import('./commands/invite.ts')).invite(email, options));
}

function addNotify(program: Command): void {
  const notify = program.command('notify').description('notifications to operators');
  addSettings(
    notify
      .command('test')
      .description(
        'send a test message to each address of the settings notify and heartbeat_url; exits 0 or 1',
      ),
  )
    .option('--json', 'as one JSON object')
    .action(async (options) => (await import('./commands/notify.ts')).notifyTest(options));
}

/** In place of commander's own, which knows commands only. */
function addHelp(program: Command): void {
  program.helpCommand(false);
  addSettings(
    program
      .command('help')
      .description('show the help of a command, what to do when something is wrong, or alert rules')
      .argument('[topic...]', 'a command; `runbook`, or `runbook` and one of its sections; `alerts`'),
  ).action(async (topic: string[], options) => {
    const [first = '', second] = topic;
    if (['runbook', 'alerts'].includes(first))
      return (await import('./commands/help.ts')).help(first, second, options);
    let command = program;
    for (const word of topic) {
      const next = command.commands.find((each) => each.name() === word);
      if (!next) return program.error(`error: there is no help on '${topic.join(' ')}'`);
      command = next;
    }
    command.outputHelp();
  });
}

function exitCodeOf(error: unknown): number {
  // commander has printed its own message.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  const { name, message, stack, exit_code } = error as Error & { exit_code?: number };
  const code =
    exit_code ??
    {
      ConfigError: EXIT_CONFIG,
      DatabaseError: EXIT_CONFIG,
      DatabaseAway: EXIT_LATER,
      ConnectionLost: EXIT_LATER,
    }[name] ??
    null;
  process.stderr.write(`gatewayd: ${code === null ? stack : message}\n`);
  return code ?? EXIT_FAILURE;
}
