// Who owns the data: what another user makes next to it, root above all, is closed to the service that lives by it.
import { accessSync, constants, lstatSync, readFileSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join, parse, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Config, ConfigError } from '../settings/config.ts';

const { R_OK, W_OK, X_OK } = constants;
/** As many as the kernel follows. */
const MAX_LINKS = 40;
/** What a command does to the data. */
export type Use = 'reads' | 'writes';
export type Place = Pick<Config, 'data_dir' | 'database_url' | 'secret'>;
export type Owner = Pick<Stats, 'uid' | 'gid'>;

/** The types of Node.js have it elsewhere. */
interface WithGroups {
  initgroups(user: number, group: number): void;
}

/**
 * Makes this process one of the user to whom the data belongs, where root runs it: to be called before anything there is opened or
 * made, and after what root alone may read. Throws ConfigError where this user cannot work there; then nothing was touched.
 */
export function takeOwner(place: Place, use: Use = 'writes'): void {
  if (!process.getuid) return; // Windows has no such users.
  const owner = ownerOf(place);
  const is_taken = process.getuid() === 0 && owner !== null && owner.uid !== 0;
  if (is_taken) become(owner, place);
  const program = fileURLToPath(import.meta.url);
  if (is_taken && !isOpen(program, R_OK))
    throw new ConfigError(
      `${program} cannot be read by the user ${nameOf(owner.uid)}, to whom the data in ${place.data_dir} belongs, and as whom root's commands run: install gatewayd where everyone can read it`,
    );
  const closed = closedIn(place, use);
  if (closed !== undefined) throw new ConfigError(closedTo(closed, place, owner));
}

/**
 * The user who can put something else in the place of the data: of the database where it is a file, of the secret, or of the directory,
 * or of what it will be made in; root only where no other user can. Null where this user cannot see it.
 */
export function ownerOf(place: Place): Owner | null {
  const found = [...filesOf(place).filter((path) => look(path)), place.data_dir, ...fileOf(place)].map(
    ownerOnWay,
  );
  return found.find((owner) => owner !== null && owner.uid !== 0) ?? found[0] ?? null;
}

/**
 * Whose a path is: of its last directory, or of the file there, unless that is root's in the directory of another. The user of a
 * service can make links, but not whose they are: one that root has not made leads nowhere.
 */
function ownerOnWay(path: string): Owner | null {
  let owner: Owner | null = null;
  const follow = (directory: string, names: readonly string[], links: number): Owner | null => {
    let at = directory;
    for (const [passed, name] of names.entries()) {
      at = join(at, name);
      const stats = inPlace(at);
      if (stats === 'closed') return null;
      if (!stats) return owner;
      if (!stats.isSymbolicLink()) {
        if (stats.isDirectory() || stats.uid !== 0) owner = stats;
        continue;
      }
      if (stats.uid !== 0) return stats;
      if (links === 0) return owner;
      const { root, parts } = partsOf(resolve(dirname(at), readlinkSync(at)));
      return follow(root, [...parts, ...names.slice(passed + 1)], links - 1);
    }
    return owner;
  };
  const { root, parts } = partsOf(resolve(path));
  return follow(root, ['', ...parts], MAX_LINKS);
}

function partsOf(path: string): { root: string; parts: string[] } {
  const { root } = parse(path);
  return { root, parts: path.slice(root.length).split(sep).filter(Boolean) };
}

const fileOf = ({ database_url }: Place): string[] =>
  database_url.startsWith('sqlite:') && database_url !== 'sqlite::memory:'
    ? [resolve(database_url.slice('sqlite:'.length))]
    : [];

const filesOf = (place: Place): string[] => [...fileOf(place), join(place.data_dir, 'secret')];

function inPlace(path: string): Stats | 'closed' | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    return ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '') ? 'closed' : undefined;
  }
}

/** The same of what a link leads to. */
function look(path: string): Stats | 'closed' | undefined {
  try {
    return statSync(path);
  } catch (error) {
    return ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '') ? 'closed' : undefined;
  }
}

function isOpen(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

function become({ uid, gid }: Owner, { data_dir }: Place): void {
  try {
    try {
      (process as unknown as WithGroups).initgroups(uid, gid);
    } catch {
      // No list of users has it, as in a container, or while the user of a service is made when it starts.
      process.setgroups?.([gid]);
    }
    process.setgid?.(gid);
    process.setuid?.(uid);
  } catch (error) {
    throw new ConfigError(
      `the data in ${data_dir} belongs to the user ${nameOf(uid)}, whom this process may not become (${(error as Error).message}): run it as that user`,
    );
  }
}

/** What of the data this user would need and does not get. What is not there yet is no one's. */
function closedIn(place: Place, use: Use): string | undefined {
  const writes = use === 'writes';
  const { data_dir, secret } = place;
  const needed: [path: string, mode: number][] = [
    ...fileOf(place).flatMap((file): [string, number][] => [
      [dirname(file), writes ? W_OK | X_OK : X_OK],
      [file, writes ? R_OK | W_OK : R_OK],
    ]),
    ...(writes || secret === undefined ? [[data_dir, writes ? W_OK | X_OK : X_OK] as [string, number]] : []),
    ...(secret === undefined ? [[join(data_dir, 'secret'), R_OK] as [string, number]] : []),
  ];
  return needed.find(([path, mode]) => look(path) !== undefined && !isOpen(path, mode))?.[0];
}

function closedTo(closed: string, place: Place, owner: Owner | null): string {
  const { data_dir } = place;
  const service = serviceOf(data_dir);
  if (service !== undefined)
    return `${closed} belongs to the service ${service}, whose user systemd makes (DynamicUser): run the command as \`${commandFor(service, data_dir)}\`; nothing was touched`;
  if (owner === null)
    return `${closed} is closed to this user: run the command with sudo, which takes the user to whom the data belongs; nothing was touched`;
  const user = nameOf(owner.uid);
  if (process.getuid?.() === owner.uid)
    return `${closed} is closed to the user ${user}, to whom the data in ${data_dir} belongs: \`sudo chown -h ${owner.uid}:${owner.gid} ${closed}\` gives it back; nothing was touched`;
  return `${closed} belongs to the user ${user}: run the command as \`sudo gatewayd …\`, which takes that user, or as \`sudo -u '${user}' gatewayd …\`; nothing was touched`;
}

/** As the state directory of a unit with DynamicUser is a link below `private`, which root alone may enter. */
function serviceOf(data_dir: string): string | undefined {
  try {
    const target = readlinkSync(data_dir);
    return basename(dirname(target)) === 'private' ? basename(target) : undefined;
  } catch {
    return undefined;
  }
}

/** The unit's own words for it are in .github/deploy/gatewayd.service. */
const commandFor = (service: string, data_dir: string): string =>
  `sudo systemd-run -qtPG -p DynamicUser=yes -p User=${service} -p StateDirectory=${service} -p WorkingDirectory=/etc/${service} -p EnvironmentFile=-/etc/${service}/environment -E GATEWAYD_DATA_DIR=${data_dir} gatewayd …`;

/** A name where one is known here, else `#1000`, which sudo takes as well. */
function nameOf(uid: number): string {
  try {
    const line = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((each) => each.split(':')[2] === String(uid));
    return line?.split(':')[0] ?? `#${uid}`;
  } catch {
    return `#${uid}`;
  }
}
