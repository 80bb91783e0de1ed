import fc, { type Arbitrary } from 'fast-check';
import { must } from '#shared/must.ts';

/**
 * A list of random decisions, used one after another; after its end every decision is 0. fast-check shrinks the list, so 0 must be the
 * simplest choice everywhere.
 */
export class Choices {
  readonly #drawn: readonly number[];
  #next = 0;

  constructor(drawn: readonly number[]) {
    this.#drawn = drawn;
  }

  /** A number from 0 up to `count - 1`. */
  below(count: number): number {
    return (this.#drawn[this.#next++] ?? 0) % count;
  }

  pick<T>(list: readonly T[]): T {
    return must(list[this.below(list.length)], 'a list to pick from is not empty');
  }

  /** True once in `times`. */
  chance(times: number): boolean {
    return this.below(times) === times - 1;
  }
}

const DRAWN_MAX = 150;
const DRAWN_MIN = 20;

/** Lists of decisions with a minimum length; with shorter ones most statements would be the simplest. */
export const drawnChoices: Arbitrary<readonly number[]> = fc.noBias(
  fc.array(fc.nat(2 ** 30), { minLength: DRAWN_MIN, maxLength: DRAWN_MAX, size: 'max' }),
);
