import { SkeinError } from '#shared/error.ts';
import type { StatementReader } from './statement-reader.ts';

/** How the pairs of one clause are written. */
type PairRule<Value> = {
  /** Takes the next key; null when none comes. */
  readonly key: () => string | null;
  /** Takes the sign behind a key, and the value. */
  readonly value: (key: string, position: number) => Value;
  /** Takes what stands between two pairs. @returns whether another one may come */
  readonly goesOn: () => boolean;
  readonly twice: (key: string) => string;
};

/** Takes `KEY = value` as often as it comes, each key once. @throws SYNTAX_ERROR */
export function takePairs<Value>(reader: StatementReader, rule: PairRule<Value>): ReadonlyMap<string, Value> {
  const pairs = new Map<string, Value>();
  do {
    const { position } = reader;
    const key = rule.key();
    if (key === null) break;
    if (pairs.has(key)) throw new SkeinError('SYNTAX_ERROR', rule.twice(key), { position });
    pairs.set(key, rule.value(key, position));
  } while (rule.goesOn());
  return pairs;
}
