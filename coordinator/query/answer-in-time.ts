import { SkeinError } from '#shared/error.ts';

/** Time from the moment at which a statement is stopped to its answer, at most, however long its workers take to stop. */
const ANSWER_AFTER_STOP_MS = 700;

/**
 * Waits for `work`. If `stop` is aborted and the work does not end soon after, throws the reason of `stop`. The work then continues
 * in the background: it frees what it holds, and must send nothing more to the client.
 */
export async function answerInTime<T>(stop: AbortSignal, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let onStop: () => void = () => undefined;
  const late = new Promise<never>((_resolve, reject) => {
    onStop = () => {
      timer = setTimeout(() => reject(SkeinError.of(stop.reason)), ANSWER_AFTER_STOP_MS);
    };
  });
  if (stop.aborted) onStop();
  else stop.addEventListener('abort', onStop, { once: true });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    stop.removeEventListener('abort', onStop);
    work.catch(() => undefined);
  }
}
