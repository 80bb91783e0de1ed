/** Time as a dependency, so that tests drive schedulers, leases and timeouts with a clock of their own. */
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
