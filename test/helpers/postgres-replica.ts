// A streaming replica of a PostgreSQL server, made from a copy of its files.
import { execFileSync } from 'node:child_process';
import { chownSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import pg from 'pg';
import { launch, type PostgresServer, runnableBinaries, unprivileged } from './postgres-server.ts';

/** Of the running server alone. */
const OWN_FILES = ['postmaster.pid', 'postmaster.opts'];

/** Answers questions as soon as this resolves, and follows the server from then on. */
export async function startReplica(binaries: string, primary: PostgresServer): Promise<PostgresServer> {
  const user = unprivileged();
  const directory = mkdtempSync(join(tmpdir(), 'gatewayd-replica-'));
  const data = join(directory, 'data');
  const client = new pg.Client({ connectionString: primary.url });
  await client.connect();
  try {
    await client.query(`select pg_backup_start('replica', true)`);
    cpSync(join(primary.directory, 'data'), data, {
      recursive: true,
      filter: (file) => !OWN_FILES.includes(basename(file)),
    });
    const { rows } = await client.query('select labelfile from pg_backup_stop(false)');
    writeFileSync(join(data, 'backup_label'), rows[0].labelfile);
    writeFileSync(join(data, 'standby.signal'), '');
    if (user.uid !== undefined) {
      chownSync(directory, user.uid, user.gid as number);
      execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, data]);
    }
    execFileSync('chmod', ['-R', 'u=rwX,go=', data]);
    const native = runnableBinaries(binaries, directory, user);
    const { hostname, port } = new URL(primary.url);
    const settings = { primary_conninfo: `host=${hostname} port=${port} user=postgres` };
    return await launch(join(native, 'bin', 'postgres'), data, { directory, user, settings });
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  } finally {
    await client.end();
  }
}
