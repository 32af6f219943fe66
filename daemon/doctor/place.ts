// What is examined on this machine: settings, rights on files, the secret, free disk.
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDiskLow, placesOf } from '../notify/causes.ts';
import { findSecretTexts } from '../process/data-dir.ts';
import { type Owner, ownerOf } from '../process/owner.ts';
import { type Config, ConfigError } from '../settings/config.ts';
import type { Leaf } from '../settings/layers.ts';
import { type Check, type Finding, failed, ok, warning } from './finding.ts';

const OTHERS = 0o077;
/** Where the group is the service's own, which may read. */
const OTHERS_OF_GROUP = 0o037;
/** Users that systemd makes for the time a service runs; what is to be theirs cannot be named before. */
const DYNAMIC_FIRST = 61_184;
const DYNAMIC_LAST = 65_519;
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
  if (!existsSync(data_dir))
    return [ok('files', `${data_dir} does not exist yet: the first start creates it, for this user only`)];
  const file = database_url.startsWith('sqlite:') ? database_url.slice('sqlite:'.length) : undefined;
  const found = new Map<string, Leaf[]>();
  for (const leaf of settings.filter(({ secret }) => secret !== false)) {
    const origin = origins.get(leaf.name);
    if (origin?.kind === 'file') found.set(origin.label, [...(found.get(origin.label) ?? []), leaf]);
  }
  const paths = [
    data_dir,
    ...['secret', 'secret.next', 'first-password', 'outbox', 'backups'].map((name) => join(data_dir, name)),
    ...(file === undefined ? [] : ['', '-wal', '-shm', '.lock'].map((end) => `${file}${end}`)),
  ].filter((path) => existsSync(path));
  const owner = ownerOf(config);
  if (process.platform === 'win32' || owner === null)
    return [ok('files', `${paths.length} paths are in ${data_dir}`)];
  const wrong = [
    ...paths.flatMap((path) => faultOfData(path, owner)),
    ...[...found].flatMap(([path, secrets]) => faultOfSettings(path, { owner, secrets })),
  ];
  const count = paths.length + found.size;
  return wrong.length > 0 ? wrong : [ok('files', `${count} paths are accessible to their user only`)];
};

const modeOf = (mode: number): string => (mode & 0o777).toString(8);

function faultOfData(path: string, { uid, gid }: Owner): Finding[] {
  const found = statSync(path);
  if (found.uid !== uid) {
    const says = `${path} belongs to another user than the data, whose daemon cannot use it`;
    return [failed('files', says, `sudo chown -hR ${uid}:${gid} ${path}`)];
  }
  if ((found.mode & OTHERS) === 0) return [];
  return [failed('files', `${path} is open to others (${modeOf(found.mode)})`, `chmod go= ${path}`)];
}

/** A file of settings with secrets may be root's, whom systemd reads it for, or open to the group of the service. */
function faultOfSettings(path: string, { owner, secrets }: { owner: Owner; secrets: Leaf[] }): Finding[] {
  // What systemd hands a service it guards itself.
  const { CREDENTIALS_DIRECTORY: handed } = process.env;
  if (handed !== undefined && path.startsWith(`${handed}/`)) return [];
  if (!isReadable(path)) {
    const says = `${path} cannot be read by the user to whom the data belongs, as whom the daemon runs`;
    return [failed('files', says, forService(path, owner, secrets))];
  }
  const { uid, gid, mode } = statSync(path);
  if ((mode & (gid === owner.gid ? OTHERS_OF_GROUP : OTHERS)) === 0) return [];
  const fix = uid === owner.uid ? `chmod go= ${path}` : forService(path, owner, secrets);
  return [failed('files', `${path} is open to others (${modeOf(mode)})`, fix)];
}

function forService(path: string, { uid, gid }: Owner, secrets: readonly Leaf[]): string {
  if (uid < DYNAMIC_FIRST || uid > DYNAMIC_LAST)
    return `sudo chgrp ${gid} ${path} && sudo chmod u=rw,g=r,o= ${path}`;
  const moved = secrets.map(({ name, env }) => `${name} (${env}=…)`).join(', ');
  return `move ${moved} from it to the EnvironmentFile of the unit, which systemd reads as root: /etc/gatewayd/environment, with mode 0600`;
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

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
