// Where simulated daemons keep their books: a SQLite file in memory, or a database of a PostgreSQL server behind a gate.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Books, openBooks } from './books.ts';
import { Gate, type GateOptions } from './gate.ts';
import { digestOf, openServerBooks, type SimulatorServer } from './postgres.ts';

/** Memory behind a file system, where there is one: every commit asks the disk. */
const SHARED_MEMORY = '/dev/shm';

export interface Store {
  url: string;
  /** What a seed may order; a file has one writer. */
  gate: Gate | undefined;
  openBooks(): Books;
  /** Equal for equal rows; 0 where that is not asked. */
  digest(): Promise<number>;
  close(): Promise<void>;
}

/** `directory`: where the file is put; in memory if there is such a place. */
export function openFileStore(directory: string = memory()): Store {
  const own = mkdtempSync(join(directory, 'gatewayd-simulator-'));
  const file = join(own, 'gatewayd.db');
  return {
    url: `sqlite:${file}`,
    gate: undefined,
    openBooks: () => openBooks(file),
    digest: async () => 0,
    close: async () => rmSync(own, { recursive: true, force: true }),
  };
}

function memory(): string {
  try {
    rmSync(mkdtempSync(join(SHARED_MEMORY, 'gatewayd-simulator-')), { recursive: true });
    return SHARED_MEMORY;
  } catch {
    return tmpdir();
  }
}

export async function openServerStore(
  server: SimulatorServer,
  options: Omit<GateOptions, 'url' | 'monitor_url'>,
): Promise<Store> {
  const { url, drop } = await server.createDatabase();
  const gate = await Gate.open({ ...options, url, monitor_url: server.url });
  return {
    url,
    gate,
    openBooks: () => openServerBooks(url, () => gate.changed()),
    digest: () => digestOf(url),
    async close() {
      await gate.close();
      await drop();
    },
  };
}
