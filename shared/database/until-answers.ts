import { SkeinError } from '../error.ts';
import { retried } from '../retry.ts';

/** Time that a starting service waits for Postgres. */
export const STARTUP_WAIT_MS = 30_000;
const RETRY_INTERVAL_MS = 100;

/**
 * Waits until Postgres answers. One that refuses the connection for good is not waited for: class 28 (wrong user or password) or 3D (no such
 * database). @param onWait called once, when it does not answer at once @throws START_FAILED
 */
export async function untilAnswers(ask: () => Promise<unknown>, onWait: (error: unknown) => void): Promise<void> {
  const deadlineMs = performance.now() + STARTUP_WAIT_MS;
  const again = (error: unknown, attempt: number): boolean => {
    const isRefusal = /^(28|3D)/.test((error as { readonly code?: string }).code ?? '');
    if (isRefusal || performance.now() > deadlineMs) return false;
    if (attempt === 1) onWait(error);
    return true;
  };
  try {
    await retried(ask, { again, pauseMs: RETRY_INTERVAL_MS });
  } catch (error) {
    throw new SkeinError('START_FAILED', `Postgres does not answer: ${(error as Error).message}`, { cause: error });
  }
}
