// systemd as the daemon's supervisor: a real systemd-notify, and a socket as systemd listens on.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Home, makeHome } from '../helpers/process.ts';

const hasSystemd = ['systemd-notify', 'perl'].every(
  (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0,
);
const LIMIT_MS = 30_000;
/** Prints each datagram; Node.js cannot receive them. Descriptors that come along, a barrier, are closed with the message. */
const LISTEN = `
  use Socket; $| = 1;
  socket(my $socket, PF_UNIX, SOCK_DGRAM, 0); bind($socket, pack_sockaddr_un($ARGV[0])) or die $!;
  while (defined recv($socket, my $words, 4096, 0)) { print "$words\\n" if $words =~ /=1/ && $words !~ /BARRIER/ }
`;

let home: Home;
beforeEach(() => {
  home = makeHome();
});
afterEach(() => home.remove());

test.skipIf(!hasSystemd)('systemd hears that the daemon is ready, alive and stopping', async () => {
  const socket = join(home.dir, 'notify');
  const listener = spawn('perl', ['-e', LISTEN, socket], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    let heard = '';
    listener.stdout.on('data', (words) => {
      heard += words;
    });
    await vi.waitUntil(() => existsSync(socket), LIMIT_MS);
    const daemon = await home.start({ env: { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '400000' } });
    await vi.waitUntil(() => /READY=1[\s\S]*WATCHDOG=1/.test(heard), LIMIT_MS);
    daemon.signal('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
    await vi.waitUntil(() => heard.includes('STOPPING=1'), LIMIT_MS);
    expect(heard.startsWith('READY=1\n')).toBe(true);
  } finally {
    listener.kill();
    await once(listener, 'exit');
  }
});

test('a missing systemd-notify is logged once, and stops nothing', async () => {
  const daemon = await home.start({
    env: { NOTIFY_SOCKET: join(home.dir, 'notify'), WATCHDOG_USEC: '200000', PATH: home.dir },
  });
  await vi.waitUntil(() => daemon.stderr().includes('systemd-notify cannot be run'), LIMIT_MS);
  daemon.signal('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
  expect(daemon.stderr().match(/systemd-notify cannot be run/g)).toHaveLength(1);
});
