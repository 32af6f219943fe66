// Free space and size of the disks that this daemon writes to.
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { settledWithin } from '../loop.ts';
import type { Runtime } from '../process/runtime.ts';
import type { Config } from '../settings/config.ts';

/** A network disk that hangs holds up no scrape for longer. */
const DISK_MS = 1_000;

export interface DiskSpace {
  place: 'data' | 'database' | 'backups';
  free_bytes: number;
  size_bytes: number;
}

/** Returns how to read them. A disk that does not answer in time is left out, and is not asked again until it has answered. */
export function createDisks({
  config,
  runtime,
}: {
  config: Pick<Config, 'data_dir' | 'database_url' | 'backup'>;
  runtime: Pick<Runtime, 'sleep'>;
}): () => Promise<readonly DiskSpace[]> {
  const places = placesOf(config);
  /** By path: those who ask at once share an answer. */
  const under_way = new Map<string, Promise<DiskSpace>>();
  const ask = ({ place, path }: (typeof places)[number]): Promise<DiskSpace> => {
    const known = under_way.get(path);
    if (known !== undefined) return known;
    const reading = statfs(path)
      .then(({ bavail, blocks, bsize }) => ({
        place,
        free_bytes: bavail * bsize,
        size_bytes: blocks * bsize,
      }))
      .finally(() => under_way.delete(path));
    under_way.set(path, reading);
    return reading;
  };
  return async () => {
    const found: DiskSpace[] = [];
    const asked = places.map(async (place) => void found.push(await ask(place)));
    await settledWithin(DISK_MS, Promise.allSettled(asked), runtime);
    return places.flatMap(({ place }) => found.find((one) => one.place === place) ?? []);
  };
}

/** Each folder once, under the first name that it has. */
function placesOf({ data_dir, database_url, backup }: Pick<Config, 'data_dir' | 'database_url' | 'backup'>) {
  const all: { place: DiskSpace['place']; path: string | undefined }[] = [
    { place: 'data', path: data_dir },
    {
      place: 'database',
      path: database_url.startsWith('sqlite:') ? dirname(database_url.slice('sqlite:'.length)) : undefined,
    },
    { place: 'backups', path: backup.to },
  ];
  return all.flatMap(({ place, path }, at) =>
    path === undefined || all.findIndex((other) => other.path === path) < at ? [] : { place, path },
  );
}
