// The command line `gw`: finds the command, reads its flags, runs it, and turns what goes wrong into a message and an exit code.
import { VERSION } from './engine/version.ts';

/** Runs one command line (without node and script); sets the exit code, and never throws. */
export async function main(argv: readonly string[]): Promise<void> {
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    process.stdout.write(`${VERSION}\n`);
    return;
  }
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader that has enough (`| head -1`) is no failure.
    if (error.code === 'EPIPE') process.exit(0);
    process.stderr.write(`gw: the output cannot be written: ${error.message}\n`);
    process.exit(1);
  });
  process.stderr.on('error', () => {});
  if (argv.length === 2 && argv[0] === 'completion') {
    const shell = argv[1] ?? '';
    const { builtTable, scriptOf } = await import('./engine/completion.ts');
    const table = builtTable(shell);
    if (table !== undefined) {
      const { completedWithOwn } = await import('./engine/own-aliases.ts');
      process.stdout.write(`${scriptOf(await completedWithOwn(table, process.env), shell)}\n`);
      return;
    }
  }
  const { openRegistry, run } = await import('./start.ts');
  process.exitCode = await run(argv, await openRegistry());
}
