// The PostgreSQL server of the test run is real, isolated per test file, and leaves nothing behind.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { ModuleKind, ScriptTarget, transpileModule } from 'typescript';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createDatabase, hasPostgres } from './postgres.ts';
import { postgresBinaries } from './postgres-server.ts';

const query = async (url: string, text: string) => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
};

describe.skipIf(!hasPostgres)('the PostgreSQL of the test run', () => {
  test('is a real server on which each test file has an empty database of its own', async () => {
    const [first, second] = await Promise.all([createDatabase(), createDatabase()]);
    try {
      expect((await query(first.url, 'SELECT version() AS version'))[0].version).toMatch(/^PostgreSQL 18/);
      await query(first.url, 'CREATE TABLE coin (id text)');
      await expect(query(second.url, 'SELECT * FROM coin')).rejects.toThrow('does not exist');
    } finally {
      await Promise.all([first.drop(), second.drop()]);
    }
  });

  test('drops a database that still has a connection', async () => {
    const database = await createDatabase();
    const client = new pg.Client({ connectionString: database.url });
    // The server says why, then the socket closes: an error each.
    client.on('error', () => {});
    const ended = new Promise((resolve) => client.once('end', resolve));
    await client.connect();
    await database.drop();
    await ended;
    await expect(query(database.url, 'SELECT 1')).rejects.toThrow('does not exist');
  });

  test('is stopped and removed even when the run that started it is killed', async () => {
    const source = readFileSync(new URL('./postgres-server.ts', import.meta.url), 'utf8');
    const { outputText } = transpileModule(source, {
      compilerOptions: { module: ModuleKind.ESNext, target: ScriptTarget.ES2022 },
    });
    const code = `${outputText}
      const server = await startPostgres(${JSON.stringify(postgresBinaries())});
      console.log(server.url, server.directory);
      setInterval(() => {}, 1000);`;
    const owner = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void owner.kill('SIGKILL'));
    const [line] = await once(owner.stdout, 'data');
    const [url = '', directory = ''] = String(line).trim().split(' ');
    const pid = Number(readFileSync(`${directory}/data/postmaster.pid`, 'utf8').split('\n')[0]);
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    owner.kill('SIGKILL');
    await vi.waitFor(() => expect(existsSync(directory)).toBe(false), { timeout: 10_000, interval: 50 });
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});
