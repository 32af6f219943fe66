// The parts that columns are made of.
import type { ColumnType } from 'kysely';

/** 0 or 1: both databases keep it as an integer. */
export type Flag = 0 | 1;

/** Written once, never updated. */
export type Once<T> = ColumnType<T, T, never>;
