// The clipboard of the terminal, and the browser of this machine.
import { spawn } from 'node:child_process';
import { win32 } from 'node:path';

/** OSC 52: the terminal itself copies, over any number of hops. */
export const copySequence = (text: string): string =>
  `\u001b]52;c;${Buffer.from(text, 'utf8').toString('base64')}\u0007`;

/** The command that opens an address here; undefined where no one would see it. */
export function openerOf(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): readonly string[] | undefined {
  if (env.BROWSER) return [env.BROWSER];
  if (platform === 'darwin') return ['open'];
  // Not `start`, which is a part of the shell: there `&` in an address begins another command. By its whole path, because
  // programs are searched in the present directory first.
  if (platform === 'win32')
    return [
      win32.join(env.SystemRoot || 'C:\\Windows', 'System32', 'rundll32.exe'),
      'url.dll,FileProtocolHandler',
    ];
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open'] : undefined;
}

/** Whether a program was started that opens it. */
export function openBrowser(url: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const [command, ...args] = openerOf(env, process.platform) ?? [];
  if (command === undefined || !/^https?:\/\//.test(url) || !URL.canParse(url)) return Promise.resolve(false);
  return new Promise((resolve) => {
    const child = spawn(command, [...args, new URL(url).href], { stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
