// Waits for what happens in the background: asks again until there is an answer, and fails by name when there is none.

const STEP_MS = 25;
const LIMIT_MS = 30_000;

export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined>,
  limit_ms = LIMIT_MS,
): Promise<T> {
  const deadline = Date.now() + limit_ms;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > deadline) throw new Error(`waited ${limit_ms} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
}
