// The files that the build makes for browsers: scripts, style sheets and pictures.
import { readdirSync, readFileSync } from 'node:fs';

/** Beside the compiled code; the sources, which tests run, use the same files. */
const folder = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/assets/' : '../../assets/',
  import.meta.url,
);

/** A built file. Throws where `npm run build` has not made it. */
export const builtFile = (name: string): Buffer => readFileSync(new URL(name, folder));

/** A built file as text. Throws where `npm run build` has not made it. */
export const builtText = (name: string): string => builtFile(name).toString();

/** The names of the built files in a folder. */
export const builtNames = (name: string): string[] => readdirSync(new URL(`${name}/`, folder));
