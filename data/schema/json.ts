// Columns that hold JSON: a row that was read has the value, what is written is its text.
import type { ColumnType } from 'kysely';

declare const held: unique symbol;

/** The JSON text of a value, as a column holds it. */
export type JsonText<T> = string & { readonly [held]: T };

export type JsonColumn<T> = ColumnType<T, JsonText<T>, JsonText<T>>;

/** Written once, never updated. */
export type JsonOnce<T> = ColumnType<T, JsonText<T>, never>;

/** The value as it is written. */
export const toJson = <T>(value: T): JsonText<T> => JSON.stringify(value) as JsonText<T>;
