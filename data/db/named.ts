// Statements that PostgreSQL parses and plans once for each connection: their names, by their texts.

/** So many are written in the code; more would mean that texts are made of values. */
const MOST = 100;

const names = new Map<string, string>();

/** From now on a statement of this text has a name, which says whether it writes. */
export function nameStatement(text: string, does: 'read' | 'write'): void {
  if (names.has(text)) return;
  if (names.size >= MOST) throw new Error('too many prepared statements: their texts must not hold values');
  names.set(text, `gatewayd_${does}_${names.size + 1}`);
}

/** Undefined for a statement that is run once in a while. */
export const statementName = (text: string): string | undefined => names.get(text);
