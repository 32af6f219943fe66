// What a start leaves for its first use. An upgrade in place takes its files away from under a daemon that runs, which then
// could draw no code and send no mail: so all of it is loaded soon after. A package that is not built into those files, such as argon2,
// is where it was.
import type { Logger } from 'pino';

const LOADED_AFTER_MS = 10_000;

/** In the order of what a shop would miss most. */
const rest: (() => Promise<unknown>)[] = [
  () => import('undici'),
  () => import('qrcode'),
  () => import('nodemailer'),
  () => import('@modelcontextprotocol/server'),
  () => import('../../src/mcp.ts'),
  () => import('../discovery/search.ts'),
];

/** One after the other, some seconds after the start. */
export function loadRest(log: Logger): void {
  const load = async () => {
    for (const one of rest) await one();
    log.debug('what is loaded when first needed has been loaded');
  };
  setTimeout(() => {
    load().catch((error) => log.error({ err: error }, 'files of gatewayd are missing: restart it'));
  }, LOADED_AFTER_MS).unref();
}
