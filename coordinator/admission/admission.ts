import { SkeinError } from '#shared/error.ts';

/** What decides where a query waits; routing and classes read more of it later. */
type AdmissionRequest = { readonly signal: AbortSignal };

/** A place among the running queries. `release` gives it back, once. */
type Place = {
  /** Slash-separated, as history names it. */
  readonly resourceGroup: string;
  readonly priority: number;
  release(): void;
};

export interface Admission {
  /** @throws QUEUE_FULL at once when too many wait; the signal's reason when it aborts first. */
  admit(request: AdmissionRequest): Promise<Place>;
  readonly running: number;
  readonly queued: number;
}

const ROOT = '/root';
const PRIORITY_NORMAL = 5;

/** One group, first come first served. */
export function singleGroupAdmission(limits: { readonly runningMax: number; readonly queuedMax: number }): Admission {
  let running = 0;
  const waiting = new Set<() => void>();

  const place = (): Place => {
    running += 1;
    let held = true;
    return {
      resourceGroup: ROOT,
      priority: PRIORITY_NORMAL,
      release: () => {
        if (!held) return;
        held = false;
        running -= 1;
        const [first] = waiting;
        first?.();
      },
    };
  };

  return {
    get running() {
      return running;
    },
    get queued() {
      return waiting.size;
    },
    admit: ({ signal }) => {
      if (signal.aborted) return Promise.reject(SkeinError.of(signal.reason));
      if (running < limits.runningMax && waiting.size === 0) return Promise.resolve(place());
      if (waiting.size >= limits.queuedMax) {
        const message = `${running} queries run and ${waiting.size} wait, the most that the group ${ROOT} allows`;
        return Promise.reject(new SkeinError('QUEUE_FULL', message));
      }
      return new Promise((resolve, reject) => {
        const start = (): void => {
          waiting.delete(start);
          signal.removeEventListener('abort', stop);
          resolve(place());
        };
        const stop = (): void => {
          waiting.delete(start);
          reject(SkeinError.of(signal.reason));
        };
        waiting.add(start);
        signal.addEventListener('abort', stop, { once: true });
      });
    },
  };
}
