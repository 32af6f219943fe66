// What a flag of one command is.
import type { WantedKind } from '../../src/explain.ts';

export type InputPart = 'params' | 'query' | 'body' | 'own';
export type Kind = 'text' | 'integer' | 'boolean' | 'list';

export interface Flag {
  /** Member of the input, snake_case. */
  field: string;
  /** Without dashes: `external-ref`. */
  name: string;
  place: InputPart;
  kind: Kind;
  help: string;
  required?: boolean;
  nullable?: boolean;
  secret?: boolean;
  /** Whether `@path` stands for the picture in that file. */
  picture?: boolean;
  choices?: readonly string[];
  default?: unknown;
  /** What its value names, of a flag of one command: it takes any reference to one. */
  names?: WantedKind;
  /** How the value is called in the help. */
  value?: string;
}
