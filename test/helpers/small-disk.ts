// A disk of a few MB that a test fills and empties: a tmpfs, for which a test has to run as root on Linux.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chownSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmdirSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { sqlite } from '../../data/db/driver.ts';
import type { User } from './postgres-server.ts';

export interface SmallDisk {
  /** A folder on it, of this user. */
  folder: string;
  /** Leaves not one byte. */
  fill(): void;
  empty(): void;
  /** Makes it smaller, or larger; it is never smaller than what is on it. */
  resize(mebibytes: number): void;
}

const mount = (mebibytes: number, place: string) =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', place]);

/** Whether this machine lets a test have one; where not, the run reports it. */
export const hasSmallDisks = ((): boolean => {
  const place = mkdtempSync(join(tmpdir(), 'gatewayd-disk-'));
  const { status } = mount(1, place);
  if (status === 0) execFileSync('umount', [place]);
  else
    console.warn(
      'NOT TESTED: full disks, since a tmpfs cannot be mounted here; run the tests as root on Linux',
    );
  rmdirSync(place);
  return status === 0;
})();

/** One that goes with the test. */
export function openSmallDisk(mebibytes: number, { uid, gid }: User = {}): SmallDisk {
  const place = mkdtempSync(join(tmpdir(), 'gatewayd-disk-'));
  const { status, stderr } = mount(mebibytes, place);
  if (status !== 0) throw new Error(`no tmpfs: ${stderr}`);
  onTestFinished(() => {
    // What still has a file open on it keeps it until its end.
    execFileSync('umount', ['--lazy', place]);
    rmdirSync(place);
  });
  const folder = join(place, 'folder');
  mkdirSync(folder, { mode: 0o700 });
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
  const ballast = join(place, 'ballast');
  return {
    folder,
    fill() {
      const file = openSync(ballast, 'a');
      for (const size of [65_536, 4_096, 1])
        for (let is_room = true; is_room; ) {
          try {
            is_room = writeSync(file, Buffer.alloc(size)) === size;
          } catch (error) {
            if ((error as { code?: string }).code !== 'ENOSPC') throw error;
            is_room = false;
          }
        }
      closeSync(file);
    },
    empty: () => rmSync(ballast),
    resize: (size) => execFileSync('mount', ['-o', `remount,size=${size}m`, place]),
  };
}

/**
 * Fills a SQLite database on a disk that is full already: its log may be longer than what is in it, and takes rows of this size
 * until it is not.
 */
export function fillLog(file: string, row_bytes: number): void {
  const db = new (sqlite())(file);
  const insert = db.prepare('insert into meta (name, value) values (hex(randomblob(16)), ?)');
  try {
    for (;;) insert.run('x'.repeat(row_bytes));
  } catch (error) {
    if ((error as { code?: string }).code !== 'SQLITE_FULL') throw error;
  } finally {
    db.close();
  }
}
