// Run by the build: writes the list of commands, so that help need not build every schema, and what shells complete.
import { writeFileSync } from 'node:fs';
import { BUILT_COMMANDS } from './built.ts';
import { deriveRows, openRegistry } from './commands.ts';
import { writeTable } from './engine/completion-table.ts';

const rows = await deriveRows();
writeFileSync(BUILT_COMMANDS, JSON.stringify(rows));
await writeTable(await openRegistry(rows));
