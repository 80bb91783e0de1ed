import { TURN_CPU } from '#shared/turn-metrics.ts';
import { must } from '#shared/must.ts';

/** The turns of a service's main thread so far, by the CPU time that each took. */
export type Turns = {
  readonly count: number;
  /** Number of turns that took longer than a bound of the histogram. */
  readonly longerThan: (seconds: number) => number;
  /** The turns after those of `before`. */
  readonly since: (before: Turns) => Turns;
};

/** @param page of a service's metrics */
export function turnsIn(page: string): Turns {
  const upTo = new Map<string, number>();
  for (const line of page.split('\n')) {
    const match = /^(\w+)_bucket\{(.*)\} (\d+)$/.exec(line);
    const bound = /le="([^"]+)"/.exec(match?.[2] ?? '')?.[1];
    if (match?.[1] === TURN_CPU && bound !== undefined) upTo.set(bound, Number(match[3]));
  }
  return turnsOf((bound) => must(upTo.get(bound), `the histogram has a bound ${bound}`));
}

function turnsOf(upTo: (bound: string) => number): Turns {
  const count = upTo('+Inf');
  return {
    count,
    longerThan: (seconds) => count - upTo(String(seconds)),
    since: (before) => {
      const earlier = (bound: string): number =>
        bound === '+Inf' ? before.count : before.count - before.longerThan(Number(bound));
      return turnsOf((bound) => upTo(bound) - earlier(bound));
    },
  };
}
