import { must } from '#shared/must.ts';
import { automatonOf, type Automaton } from './pattern-automaton.ts';
import { threadCpuMs } from './thread-cpu.ts';

/** A text that a pattern can read in too many ways: `prefix`, then `pump` repeated, then a text that prevents a match. */
type Attack = { readonly prefix: string; readonly pump: string };

/** Longest text that is tried; a linear pattern reads it in a millisecond or two. */
const TEXT_MAX = 100_000;
/** Shortest time that can be compared with the time for a text half as long. */
const SLOW_MS = 30;
/** A linear pattern takes twice as long for twice the text, a quadratic one four times. */
const GROWTH_MAX = 3;

/**
 * Finds a text for which a pattern takes more than linear time, and describes it; undefined when there is none.
 *
 * An automaton of the pattern says where a text can be read in several ways (Weber and Seidl, On the degree of ambiguity of finite
 * automata, 1991), the search for the begin of a match being one of them. That finds too much, because it knows neither assertions nor
 * that a match may always be found; so each suspicion is tried: the pattern reads the text, and the thread's time for it is measured.
 */
export function superLinear(pattern: RegExp): string | undefined {
  let automaton: Automaton;
  try {
    automaton = automatonOf(pattern);
  } catch (error) {
    return `cannot be judged: it has ${(error as Error).message}`;
  }
  const rest = ['', ...automaton.alphabet];
  for (const attack of suspicions(automaton)) {
    const end = rest.find((suffix) => isSlow(pattern, attack, suffix));
    if (end !== undefined) return `slow for ${JSON.stringify([attack.prefix, attack.pump, end])}`;
  }
  return undefined;
}

function isSlow(pattern: RegExp, { prefix, pump }: Attack, suffix: string): boolean {
  // A sticky pattern is tried at any position that its caller chooses; with both flags it continues from the start only.
  const { source, flags } = pattern;
  const global = flags.includes('g') ? pattern : new RegExp(source, `${flags.replace('y', '')}g`);
  const isRepeated = /[gy]/.test(flags);
  const time = (count: number, runs?: number): number => {
    const text = prefix + pump.repeat(count) + suffix;
    return threadCpuMs(() => void (isRepeated ? text.replace(global, '') : text.search(pattern)), runs);
  };
  const countMax = TEXT_MAX / pump.length;
  // An exponential pattern is stopped before it takes for ever.
  for (let count = 1; count < countMax; count = count < 30 ? count + 1 : Math.ceil(count * 1.5)) {
    const grows = (): boolean => time(count) > GROWTH_MAX * time(Math.floor(count / 2));
    // Again: on a busy machine a linear one may have been interrupted once.
    if (time(count, 1) > SLOW_MS) return grows() && grows() && grows();
  }
  return false;
}

/** Every pair of states between which a text can be parted in any place, and every state that a text leads back to in two ways. */
function* suspicions(automaton: Automaton): Generator<Attack> {
  const { next } = automaton;
  const reach = next.map((_, from) => reachable(next, from));
  const onLoop = next.flatMap((_, state) => (reach[state]?.has(state) === true ? [state] : []));
  for (const p of onLoop) {
    const twice = p === 0 ? undefined : ambiguousLoop(automaton, p, must(reach[p], 'a state'));
    const others = onLoop.filter((q) => q !== p && q !== 0 && reach[p]?.has(q) === true);
    const pumps = [twice, ...others.map((q) => partedLoop(automaton, [p, q]))];
    for (const prefix of prefixesOf(automaton, p)) {
      for (const pump of pumps) if (pump !== undefined) yield { prefix, pump };
    }
  }
}

/** The shortest text that leads to a state; to the search also a character with which nothing begins, as the first one may be special. */
function prefixesOf(automaton: Automaton, state: number): readonly string[] {
  if (state !== 0) return [wordTo(automaton, state)].filter((word) => word !== undefined);
  const { next, atStart, alphabet } = automaton;
  const begins = (i: number): number => (next[0]?.[i] ?? []).length - 1 + (atStart[i] ?? []).length;
  const dull = alphabet.find((_, i) => begins(i) === 0);
  return dull === undefined ? [''] : ['', dull];
}

function reachable(next: Automaton['next'], from: number): ReadonlySet<number> {
  const seen = new Set<number>();
  const open = [from];
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    for (const other of new Set(next[state]?.flat())) {
      if (seen.has(other)) continue;
      seen.add(other);
      open.push(other);
    }
  }
  return seen;
}

/** The shortest text that leads from the begin to a state. */
function wordTo({ next, atStart, alphabet }: Automaton, target: number): string | undefined {
  const step = (state: string): Iterable<readonly [string, string]> =>
    alphabet.flatMap((character, i) => {
      const followers =
        state === '' ? [...(next[0]?.[i] ?? []), ...(atStart[i] ?? [])] : (next[Number(state)]?.[i] ?? []);
      return followers.map((one) => [character, String(one)] as const);
    });
  return shortest('', step, (state) => state === String(target));
}

/** A text that leads from p to p, from p to q and from q to q: the more of it there is, the more places to go over from p to q. */
function partedLoop({ next, alphabet }: Automaton, [p, q]: readonly [number, number]): string | undefined {
  const step = (key: string): Iterable<readonly [string, string]> => {
    const [a = 0, b = 0, c = 0] = key.split(' ').map(Number);
    return alphabet.flatMap((character, i) =>
      unique(next[a]?.[i]).flatMap((x) =>
        unique(next[b]?.[i]).flatMap((y) => unique(next[c]?.[i]).map((z) => [character, `${x} ${y} ${z}`] as const)),
      ),
    );
  };
  const end = `${p} ${q} ${q}`;
  return shortest(`${p} ${p} ${q}`, step, (key) => key === end);
}

/** A text that leads from p to p in two ways. The number behind the states is 1 once the two have parted. */
function ambiguousLoop({ next, alphabet }: Automaton, p: number, within: ReadonlySet<number>): string | undefined {
  const step = (key: string): Iterable<readonly [string, string]> => {
    const [a = 0, b = 0, parted = 0] = key.split(' ').map(Number);
    return alphabet.flatMap((character, i) => {
      const ways = (next[a]?.[i] ?? []).filter((state) => within.has(state));
      return ways.flatMap((x, nth) =>
        (next[b]?.[i] ?? []).map((y, other) => {
          const differs = a === b && parted === 0 ? nth !== other : x !== y;
          return [character, `${x} ${y} ${parted === 1 || differs ? 1 : 0}`] as const;
        }),
      );
    });
  };
  return shortest(`${p} ${p} 0`, step, (key) => key === `${p} ${p} 1`);
}

const unique = (states: readonly number[] | undefined): readonly number[] => [...new Set(states)];

/** The characters on the shortest way, of at least one step, from `start` to a key that is wanted. */
function shortest(
  start: string,
  step: (key: string) => Iterable<readonly [character: string, key: string]>,
  isWanted: (key: string) => boolean,
): string | undefined {
  const words = new Map([[start, '']]);
  for (const [key, word] of words) {
    for (const [character, other] of step(key)) {
      if (isWanted(other)) return word + character;
      if (!words.has(other)) words.set(other, word + character);
    }
  }
  return undefined;
}
