// A command that came to nothing for a reason that its operator can correct: a sentence and an exit code, without a stack.

/** Exit codes of sysexits. */
export const EXIT = { broken_data: 65, io: 74, config: 78 } as const;

export class CommandError extends Error {
  override name = 'CommandError';
  readonly exit_code: number;
  /** `exit_code`: one of EXIT, or 128 and the number of the signal that ended it. */
  constructor(message: string, exit_code: number) {
    super(message);
    this.exit_code = exit_code;
  }
}
