// A later version of the built program: the same, with migrations of its own behind those of today. Needs `npm run build`.
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** The last migration in the bundle, and the end of their list. */
const LAST_STEP = /("\d{4}-[\w-]+": \w+_exports)(\s*\n\};)/;

export interface LaterStep {
  /** `9001-later` */
  name: string;
  compatible: boolean;
}

/** Puts it into `directory`, which must not exist; the path of its `gatewayd`. */
export function laterProgram(directory: string, steps: readonly LaterStep[]): string {
  for (const part of ['bin', 'dist/gatewayd', 'package.json'])
    cpSync(join(ROOT, part), join(directory, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  const bundle = join(directory, 'dist', 'gatewayd');
  const changed = readdirSync(bundle).filter((name) => {
    const file = join(bundle, name);
    if (!name.endsWith('.cjs')) return false;
    const text = readFileSync(file, 'utf8');
    if (!LAST_STEP.test(text)) return false;
    writeFileSync(
      file,
      text.replace(LAST_STEP, (_, last: string, end: string) => last + added(steps) + end),
    );
    return true;
  });
  if (changed.length !== 1) throw new Error(`the migrations are in ${changed.length} files of the bundle`);
  return join(directory, 'bin', 'gatewayd.js');
}

const added = (steps: readonly LaterStep[]): string =>
  steps
    .map(({ name, compatible }) => {
      const column = `"step_${name.replaceAll('-', '_')}"`;
      return `,
  "${name}": { compatible: ${compatible}, up: (query) => query.schema.alterTable("units").addColumn(${column}, "text").execute() }`;
    })
    .join('');
