import { SkeinError } from '#shared/error.ts';
import type { Asker } from '#shared/fair/asker.ts';
import { Holdings, inTurn, oneTooMany } from '#shared/fair/holdings.ts';

/** The query that asks for a place. */
type AdmissionRequest = { readonly asker: Asker; readonly signal: AbortSignal };

/** A place among the running queries. `release` gives it back, once. */
export type Place = {
  /** Slash-separated, as history names it. */
  readonly resourceGroup: string;
  /** The query waited for its place, so its snapshots may have expired meanwhile. */
  readonly hasWaited: boolean;
  release(): void;
};

export interface Admission {
  /**
   * @throws QUEUE_FULL when too many wait, at once or when others need the place in the queue; the signal's reason when it aborts first.
   */
  admit(request: AdmissionRequest): Promise<Place>;
  readonly running: number;
  readonly queued: number;
}

const ROOT = '/root';

type Waiter = Asker & { readonly start: () => void; readonly refuse: () => void };

/**
 * Admission with a single resource group. A free place goes to the tenant with the fewest places, within it to the principal with the
 * fewest; some places are kept for those who have few (`Holdings`). When the queue is full, the tenant with the most waiting queries loses
 * one of them.
 */
export function singleGroupAdmission(limits: { readonly runningMax: number; readonly queuedMax: number }): Admission {
  const places = new Holdings(limits.runningMax);
  const waiting = new Set<Waiter>();

  const place = (asker: Asker, hasWaited: boolean): Place => {
    places.take(asker, 1);
    let held = true;
    return {
      resourceGroup: ROOT,
      hasWaited,
      release: () => {
        if (!held) return;
        held = false;
        places.giveBack(asker, 1);
        for (let next = nextWaiter(); next !== undefined; next = nextWaiter()) next.start();
      },
    };
  };

  const nextWaiter = (): Waiter | undefined => inTurn(waiting, places).find((waiter) => places.freeFor(waiter) >= 1);

  const queueFull = (): SkeinError => {
    const message = `${places.held} queries run and ${waiting.size} wait, the most that the group ${ROOT} allows`;
    return new SkeinError('QUEUE_FULL', message);
  };

  return {
    get running() {
      return places.held;
    },
    get queued() {
      return waiting.size;
    },
    admit: ({ asker, signal }) => {
      if (signal.aborted) return Promise.reject(SkeinError.of(signal.reason));
      // No waiting query is passed over: one that may have a place got it when the place became free.
      if (places.freeFor(asker) >= 1) return Promise.resolve(place(asker, false));
      if (waiting.size >= limits.queuedMax) {
        const leaving = oneTooMany(waiting, asker);
        if (leaving === undefined) return Promise.reject(queueFull());
        leaving.refuse();
      }
      return new Promise((resolve, reject) => {
        const leave = (): void => {
          waiting.delete(waiter);
          signal.removeEventListener('abort', stop);
        };
        const waiter: Waiter = {
          ...asker,
          start: () => {
            leave();
            resolve(place(asker, true));
          },
          refuse: () => {
            leave();
            reject(queueFull());
          },
        };
        const stop = (): void => {
          leave();
          reject(SkeinError.of(signal.reason));
        };
        waiting.add(waiter);
        signal.addEventListener('abort', stop, { once: true });
      });
    },
  };
}
