/** Time as a dependency, so that schedulers, leases and timeouts are tested with a clock that the test moves. */
export interface Clock {
  /** Milliseconds since 1970 UTC. */
  nowMs(): number;
  /** Monotonic milliseconds, for durations. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
