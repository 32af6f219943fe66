// The version of this package.
import { createRequire } from 'node:module';

/** From package.json, which the package finds by its own name wherever this file stands, built or not. */
export const VERSION: string = createRequire(import.meta.url)('gatewayd/package.json').version;
