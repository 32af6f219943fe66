// What a PostgreSQL server takes of the processor.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** What Linux counts processor time in. */
const TICKS_PER_SECOND = 100;

/** Of all processes of the server in this directory until now, seconds; what those took that ended is its first one's. */
export function serverSeconds(directory: string): number {
  let ticks = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readlinkSync(`/proc/${pid}/cwd`).startsWith(directory)) continue;
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      for (const at of [11, 12, 13, 14]) ticks += Number(fields[at]);
    } catch {
      // It ended meanwhile, or is the kernel's.
    }
  }
  return ticks / TICKS_PER_SECOND;
}
