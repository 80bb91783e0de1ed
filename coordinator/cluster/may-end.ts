/** A worker, as it counts when another one asks to end its process. */
export type EndingView = {
  /** It takes tasks and has a slot for them. */
  readonly serves: boolean;
  /** It is attached and does not drain. */
  readonly isThere: boolean;
  /** It may end already, or was there a moment ago and is expected back. */
  readonly isReplaced: boolean;
  /** A quantum on it does not stop, and it waits for permission to end its process. */
  readonly asks: boolean;
};

/**
 * The worker that may end its process next; undefined = none may now. A worker that serves is not ended deliberately while no other one does:
 * ```
 *   A asks, B serves                 -> A
 *   A asks, B asks, both serve       -> A; B once A is back
 *   A asks and has no slot, B serves -> A, before any other that asks
 *   A asks, B was just lost          -> none, until B is back or is no longer expected
 *   A asks, there is no other        -> A: a lone worker would lose a core for good, so its queries wait for the new process
 * ```
 */
export function nextToEnd<Worker extends EndingView>(workers: readonly Worker[]): Worker | undefined {
  const asking = workers.filter(({ asks, isReplaced }) => asks && !isReplaced);
  return asking
    .toSorted((one, other) => Number(one.serves) - Number(other.serves))
    .find((one) =>
      mayEnd(
        one,
        workers.filter((other) => other !== one),
      ),
    );
}

function mayEnd(one: EndingView, others: readonly EndingView[]): boolean {
  if (others.some(({ serves, isThere, isReplaced }) => serves && isThere && !isReplaced)) return true;
  // One that is being replaced will serve soon.
  if (others.some(({ isReplaced }) => isReplaced)) return false;
  return !one.serves || !others.some(({ isThere }) => isThere);
}
