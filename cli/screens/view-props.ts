// What a view of the operator's screen is given.
import type { Context } from '../engine/command.ts';
import type { Size } from './hooks.ts';

/** What a view is given. */
export interface ViewProps {
  context: Context;
  /** Room for the view. */
  size: Size;
  refresh_ms: number;
  readonly: boolean;
  query: Record<string, unknown>;
  /** Whether keys are the view's: not while a command is typed or help is shown. */
  active: boolean;
  /** Called with true while the view itself reads text, so that letters are no keys of the frame. */
  onTyping(typing: boolean): void;
  /** What the line above the view shows: figures, or why nothing comes. */
  onStatus(status: Status): void;
}

export interface Status {
  text: string;
  error: string | null;
  /** When what is in view was read, Unix seconds; 0 before the first answer. */
  read_at: number;
}
