// A copy of the rooms in a temporary folder, to edit, compile and run: what an addition costs is counted by doing it.
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const checkout = fileURLToPath(new URL('../..', import.meta.url));
/** What a build and a run need; `dist` with what the compiler has cached, so that it checks the edits only. */
const PARTS = [
  'bin',
  'cli',
  'daemon',
  'data',
  'src',
  'dist',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
];
/** Longest a compiler or a program may take on a busy machine. */
const LIMIT_MS = 240_000;
const MAX_OUTPUT_BYTES = 10_000_000;

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

export interface Addition {
  edited: string[];
  added: string[];
}

export interface Copy {
  root: string;
  /** Makes an addition; which files of the checkout it edited, and which it added. */
  add(edits: () => void): Addition;
  read(path: string): string;
  /** Writes a whole file, new or not, with the folders on the way to it. */
  write(path: string, text: string): void;
  /** Replaces the one place that reads `from`; throws where there is none or more than one. */
  edit(path: string, from: string, to: string): void;
  /** Compiles into `dist`; the messages of the compiler, none where it is content. */
  compile(): Promise<string[]>;
  /** Runs a compiled program with Node: `run('bin/gw.js', ['--help'])`. */
  run(program: string, args?: readonly string[], env?: Record<string, string>): Promise<Outcome>;
  remove(): void;
}

/** Copies the checkout as it stands, with what `npm run build` made of it. */
export function copyRooms(): Copy {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'copy-')));
  for (const part of PARTS) cpSync(join(checkout, part), join(root, part), { recursive: true });
  symlinkSync(join(checkout, 'node_modules'), join(root, 'node_modules'));
  keepMemory(root);
  runCompiled(root);
  const touched = new Set<string>();
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const write = (path: string, text: string) => {
    touched.add(path);
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const run: Copy['run'] = (program, args = [], env = {}) =>
    new Promise((resolve) => {
      execFile(
        process.execPath,
        [join(root, program), ...args],
        {
          cwd: root,
          env: { PATH: process.env.PATH, HOME: root, ...env },
          timeout: LIMIT_MS,
          maxBuffer: MAX_OUTPUT_BYTES,
        },
        (error, stdout, stderr) =>
          resolve({ code: error ? (typeof error.code === 'number' ? error.code : -1) : 0, stdout, stderr }),
      );
    });
  return {
    root,
    add(edits) {
      touched.clear();
      edits();
      const isEdit = (path: string) => existsSync(join(checkout, path));
      return { edited: [...touched].filter(isEdit), added: [...touched].filter((path) => !isEdit(path)) };
    },
    read,
    write,
    edit(path, from, to) {
      const parts = read(path).split(from);
      if (parts.length !== 2)
        throw new Error(
          `${path} has ${parts.length - 1} places that read ${from}: it was changed since, so edit it at another place`,
        );
      write(path, parts.join(to));
    },
    async compile() {
      const args = ['-p', 'tsconfig.build.json', '--pretty', 'false'];
      const { code, stdout, stderr } = await run('node_modules/typescript-7/bin/tsc', args);
      const messages = stdout.split('\n').filter((line) => /^\S.*error TS\d+/.test(line));
      return code === 0 || messages.length > 0 ? messages : [stdout + stderr];
    },
    run,
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** What the compiler has cached names packages from where it stood; in the copy they are found through a link. */
function keepMemory(root: string): void {
  const path = join(root, 'dist/.tsbuildinfo');
  const packages = relative(join(root, 'dist'), realpathSync(join(root, 'node_modules')));
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll('"../node_modules/', `"${packages}/`));
}

/** The programs of the copy run what the compiler made; bundling it each time would cost more than it shows. */
function runCompiled(root: string): void {
  for (const [program, room, argv] of [
    ['gatewayd', 'daemon', 'process.argv'],
    ['gw', 'cli', 'process.argv.slice(2)'],
  ] as const)
    writeFileSync(
      join(root, 'bin', `${program}.js`),
      `const { main } = await import('../dist/${room}/main.js');\nawait main(${argv});\n`,
    );
}
