// What a start leaves for its first use, each with the one call that loads it: Node.js looks for a file again where another module
// asks for it. An upgrade in place takes the files away from under a daemon that runs, so all of it is loaded soon after the start.
// A package that is not built into them, such as argon2, is where it was.
import type { Logger } from 'pino';

const LOADED_AFTER_MS = 10_000;

/** In the order of what a shop would miss most. */
export const rest = {
  https: () => import('node:https'),
  ws: () => import('ws'),
  qrcode: () => import('qrcode'),
  nodemailer: () => import('nodemailer'),
  mcp: () => import('@modelcontextprotocol/server'),
  tools: () => import('../../src/mcp.ts'),
  search: () => import('../discovery/search.ts'),
};

/** One after the other, some seconds after the start. */
export function loadRest(log: Logger): void {
  const load = async () => {
    for (const one of Object.values(rest)) await one();
    log.debug('what is loaded when first needed has been loaded');
  };
  setTimeout(() => {
    load().catch((error) => log.error({ err: error }, 'files of gatewayd are missing: restart it'));
  }, LOADED_AFTER_MS).unref();
}
