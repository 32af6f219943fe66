// The files that the build makes for browsers: scripts, style sheets and pictures.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** The sources, which tests run, use the same files. The package finds itself by its name, wherever this file stands. */
export const built = new URL(
  'dist/assets/',
  pathToFileURL(createRequire(import.meta.url).resolve('gatewayd/package.json')),
);

/** A built file. Throws where `npm run build` has not made it. */
export const builtFile = (name: string): Buffer => readFileSync(new URL(name, built));

/** A built file as text. Throws where `npm run build` has not made it. */
export const builtText = (name: string): string => builtFile(name).toString();

/** The names of the built files in a built. */
export const builtNames = (name: string): string[] => readdirSync(new URL(`${name}/`, built));
