// Run by the build: writes the list of commands, so that help need not build every schema.
import { writeFileSync } from 'node:fs';
import { BUILT, deriveRows } from './commands.ts';

writeFileSync(BUILT, JSON.stringify(await deriveRows()));
