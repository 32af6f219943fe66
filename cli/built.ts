// What `npm run build` writes for gw, next to the folder where this file stands once it is built or bundled.

/** The list of commands. */
export const BUILT_COMMANDS = new URL('../commands.json', import.meta.url);
/** What shells complete. */
export const BUILT_TABLE = new URL('../completion.json', import.meta.url);
