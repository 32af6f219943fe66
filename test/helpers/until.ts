// Waits for what happens in the background: asks again until there is an answer, and fails by name when there is none.

/** What comes soon is asked for often; what took longer already may be noticed later by a tenth of that, up to so much. */
const STEP_MS = 25;
const LONGEST_STEP_MS = 100;
const LIMIT_MS = 30_000;

export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined>,
  limit_ms = LIMIT_MS,
): Promise<T> {
  const begun = Date.now();
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    const waited_ms = Date.now() - begun;
    if (waited_ms > limit_ms) throw new Error(`waited ${limit_ms} ms in vain: ${what}`);
    const step_ms = Math.min(Math.max(STEP_MS, waited_ms / 10), LONGEST_STEP_MS);
    await new Promise((resolve) => setTimeout(resolve, step_ms));
  }
}
