/** Callers that wait until a condition no longer holds. Whoever may have ended it calls `wake`, and each looks again. */
export class TurnWaiters {
  readonly #waiting = new Set<() => void>();

  /** Resolves when `isBlocked` is false. @throws the reason of `signal` */
  async wait(signal: AbortSignal, isBlocked: () => boolean): Promise<void> {
    while (isBlocked()) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          this.#waiting.delete(done);
          signal.removeEventListener('abort', done);
          resolve();
        };
        this.#waiting.add(done);
        signal.addEventListener('abort', done, { once: true });
        if (signal.aborted) done();
      });
      signal.throwIfAborted();
    }
  }

  wake(): void {
    for (const done of this.#waiting) done();
  }
}
