// Edit and see: builds, starts the daemon, and does both again whenever a source changes. Ctrl-C ends all of it.
// `npm run dev -- --port 4021` hands the flags on to `gatewayd start`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const ROOMS = ['src', 'data', 'daemon', 'cli'];
/** Editors write a file in several steps, and a branch is checked out file by file. */
const QUIET_MS = 150;

let daemon;
let changed = true;
let stopping = false;
let wake = () => {};

const run = (command, args) => spawn(command, args, { cwd: root, stdio: 'inherit' });

async function stopDaemon() {
  if (daemon && daemon.exitCode === null && daemon.signalCode === null) {
    const gone = once(daemon, 'exit');
    daemon.kill('SIGTERM');
    await gone;
  }
  daemon = undefined;
}

const watchers = ROOMS.map((room) =>
  watch(`${root}${room}`, { recursive: true }, () => {
    changed = true;
    wake();
  }),
);
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    stopping = true;
    wake();
  });

while (!stopping) {
  if (!changed) {
    await new Promise((resolve) => {
      wake = resolve;
    });
    // Taken again as long as changes come.
    while (changed && !stopping) {
      changed = false;
      await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    }
    if (stopping) break;
  }
  changed = false;
  const [code] = await once(run('npm', ['run', '--silent', 'build']), 'exit');
  if (stopping || changed) continue;
  if (code !== 0) {
    console.error('dev: this does not compile; the daemon stays as it was');
    continue;
  }
  await stopDaemon();
  daemon = run(process.execPath, ['bin/gatewayd.js', 'start', ...process.argv.slice(2)]);
}
for (const watcher of watchers) watcher.close();
await stopDaemon();
