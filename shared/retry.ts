/** How work is done again that has failed. */
type RetryRule = {
  /** Whether the work is done again after this error. @param attempt how often it has been tried */
  readonly again: (error: unknown, attempt: number) => boolean;
  readonly pauseMs: number | ((attempt: number) => number);
  /** Ends a pause, and with it the work. */
  readonly signal?: AbortSignal | undefined;
};

/** Does work until it succeeds. @throws the error after which it is not done again; the reason of the signal */
export async function retried<T>(
  work: (attempt: number) => Promise<T>,
  { again, pauseMs, signal }: RetryRule,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(attempt);
    } catch (error) {
      if (!again(error, attempt)) throw error;
    }
    await pause(typeof pauseMs === 'number' ? pauseMs : pauseMs(attempt), signal);
  }
}

/** Does work that gives undefined when another one came first, until it comes first itself; undefined after so many attempts. */
export async function untilFirst<T>(
  work: () => Promise<T | undefined>,
  { attemptsMax, pauseMs }: { readonly attemptsMax: number; readonly pauseMs: (attempt: number) => number },
): Promise<T | undefined> {
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    if (attempt > 1) await pause(pauseMs(attempt - 1));
    const done = await work();
    if (done !== undefined) return done;
  }
  return undefined;
}

/** By the global timer, which simulations set. @throws the reason of the signal */
async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const stop = (): void => {
    clearTimeout(timer);
    reject(signal?.reason as Error);
  };
  signal?.addEventListener('abort', stop, { once: true });
  await promise.finally(() => signal?.removeEventListener('abort', stop));
}

/** A pause of some length from `ms` on, so that those who failed together do not come again together. */
export const spreadPause = (ms: number): number => ms * (1 + Math.random() * 20);
