import { SkeinError } from '#shared/error.ts';

/** Calls `work` with the reason when the signal aborts, or has, until it is disposed. */
export function onAbort(signal: AbortSignal, work: (reason: SkeinError) => void): Disposable {
  const run = (): void => work(SkeinError.of(signal.reason));
  if (signal.aborted) run();
  else signal.addEventListener('abort', run, { once: true });
  return { [Symbol.dispose]: () => signal.removeEventListener('abort', run) };
}
