// The version of this package.
import { readFileSync } from 'node:fs';

/** Read once from package.json, beside `cli/` in the source and above `dist/` in the build. */
export const VERSION: string = ['../package.json', '../../package.json'].reduce((found, path) => {
  if (found) return found;
  try {
    return (JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as { version: string }).version;
  } catch {
    // Not there: the other layout.
    return '';
  }
}, '');
