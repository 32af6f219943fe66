// What is examined on this machine: settings, rights on files, the secret, free disk.
import { existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDiskLow, placesOf } from '../notify/causes.ts';
import { findSecretTexts } from '../process/data-dir.ts';
import { type Config, ConfigError } from '../settings/config.ts';
import { type Check, type Finding, failed, ok, warning } from './finding.ts';

const OTHERS = 0o077;
const LEAST_BYTES = 100 * 1024 ** 2;
/** A shorter secret, or one of fewer different characters, is one that somebody thought up. */
const GOOD_SECRET_LENGTH = 32;
const GOOD_SECRET_CHARACTERS = 10;

export const settingsRead: Check = async ({ config, origins }) => {
  const places = new Set([...origins.values()].map(({ kind, label }) => (kind === 'file' ? label : kind)));
  const from = places.size === 0 ? 'defaults' : [...places].join(', ');
  const mode = config.demo ? `${config.network}, demo` : config.network;
  return [ok('settings', `${mode}; from ${from}`)];
};

export const rights: Check = async ({ config, origins, settings }) => {
  const { data_dir, database_url } = config;
  const file = database_url.startsWith('sqlite:') ? database_url.slice('sqlite:'.length) : undefined;
  const with_secrets = settings.filter(({ secret }) => secret !== false).map(({ name }) => name);
  const config_files = with_secrets.flatMap((name) => {
    const origin = origins.get(name);
    return origin?.kind === 'file' ? [origin.label] : [];
  });
  const paths = [
    data_dir,
    join(data_dir, 'secret'),
    join(data_dir, 'secret.next'),
    ...(file === undefined ? [] : [file, `${file}-wal`]),
    ...new Set(config_files),
  ].filter((path) => existsSync(path));
  if (!existsSync(data_dir))
    return [ok('files', `${data_dir} does not exist yet: the first start creates it, for this user only`)];
  const open = paths.flatMap((path) => {
    const { mode } = statSync(path);
    return (mode & OTHERS) === 0 || process.platform === 'win32' ? [] : [openTo(path, mode)];
  });
  return open.length > 0 ? open : [ok('files', `${paths.length} paths are accessible to their user only`)];
};

const openTo = (path: string, mode: number): Finding =>
  failed('files', `${path} is open to others (${(mode & 0o777).toString(8)})`, `chmod go= ${path}`);

export const secretStrength: Check = async ({ config }) => {
  try {
    const [secret] = findSecretTexts(config);
    if (secret === undefined) return [ok('secret', 'none yet: the first start creates one')];
    const isWeak = secret.length < GOOD_SECRET_LENGTH || new Set(secret).size < GOOD_SECRET_CHARACTERS;
    return [
      isWeak
        ? warning(
            'secret',
            'it is short or has few different characters: anyone with the database could guess it',
            'replace it by one of `openssl rand -hex 32` with `gatewayd secret rotate`',
          )
        : ok('secret', `${secret.length} characters`),
    ];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [failed('secret', error.message, 'restore it from the copy that you store elsewhere')];
  }
};

export const freeDisk: Check = async ({ config }) => {
  return Object.values(placesOf(config)).map((place) => {
    const disk = statfsSync(nearestExisting(place));
    const free = disk.bavail * disk.bsize;
    const says = `${Math.floor(free / 1024 ** 2)} MiB free for ${place}`;
    const fix = 'free some space, or move data_dir to a larger disk';
    if (free < LEAST_BYTES) return failed('disk', says, fix);
    return isDiskLow(disk) ? warning('disk', says, fix) : ok('disk', says);
  });
};

export function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

/** Whether a daemon could be asked from other machines at all. */
export const isLocal = ({ public_url }: Pick<Config, 'public_url'>): boolean =>
  /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(public_url).hostname);
