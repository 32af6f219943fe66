// A command that came to nothing for a reason that its operator can correct: a sentence and an exit code, without a stack.

/** Exit codes of sysexits. */
export const EXIT = { broken_data: 65, io: 74, config: 78 } as const;

export class CommandError extends Error {
  override name = 'CommandError';
  readonly exit_code: number;
  constructor(message: string, exit_code: (typeof EXIT)[keyof typeof EXIT]) {
    super(message);
    this.exit_code = exit_code;
  }
}
