// The clipboard of the terminal, and the browser of this machine.
import { spawn } from 'node:child_process';

/** OSC 52: the terminal itself copies, over any number of hops. */
export const copySequence = (text: string): string =>
  `\u001b]52;c;${Buffer.from(text, 'utf8').toString('base64')}\u0007`;

/** The command that opens an address here; undefined where no one would see it. */
function openerOf(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): readonly string[] | undefined {
  if (env.BROWSER) return [env.BROWSER];
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['cmd', '/c', 'start', ''];
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open'] : undefined;
}

/** Whether a program was started that opens it. */
export function openBrowser(url: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const [command, ...args] = openerOf(env, process.platform) ?? [];
  if (command === undefined || !/^https?:\/\//.test(url)) return Promise.resolve(false);
  return new Promise((resolve) => {
    const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
