// Rows as the tables' types promise them: of integers, which both drivers hand over as bigint, all but money become
// numbers, and columns of JSON become the values that they hold.
import type { KyselyPlugin, RootOperationNode, SelectQueryNode, UnknownRow } from 'kysely';
import { jsonColumns } from '../schema/tables.ts';

const MOST = BigInt(Number.MAX_SAFE_INTEGER);
const JSON_COLUMNS = new Set(Object.keys(jsonColumns));

/** Changes the row itself. Throws RangeError where a number could not hold the value, SyntaxError where JSON is none. */
export function decodeRow(row: UnknownRow): UnknownRow {
  for (const key in row) {
    const value = row[key];
    if (typeof value === 'bigint') {
      if (!key.endsWith('_micros')) row[key] = numberOf(key, value);
    } else if (typeof value === 'string' && JSON_COLUMNS.has(key)) row[key] = JSON.parse(value);
  }
  return row;
}

function numberOf(key: string, value: bigint): number {
  if (value > MOST || value < -MOST) throw new RangeError(`column ${key} holds an integer beyond 2^53`);
  return Number(value);
}

/** What every statement and every row goes through. */
export class RowPlugin implements KyselyPlugin {
  transformQuery({ node }: { node: RootOperationNode }): RootOperationNode {
    return withLimit(node);
  }
  async transformResult<R extends { rows: UnknownRow[] }>({ result }: { result: R }): Promise<R> {
    for (const row of result.rows) decodeRow(row);
    return result;
  }
}

/** With its limit written out: as a parameter it makes SQLite prepare the statement again at each run, to plan by its value. */
function withLimit(node: RootOperationNode): RootOperationNode {
  const limit = node.kind === 'SelectQueryNode' ? node.limit?.limit : undefined;
  if (limit?.kind !== 'ValueNode') return node;
  return {
    ...node,
    limit: { kind: 'LimitNode', limit: { ...limit, immediate: true } },
  } as unknown as SelectQueryNode;
}
