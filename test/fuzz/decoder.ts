import type { ErrorCode } from '#shared/error.ts';
import { mutate } from './mutate.ts';
import { Random } from './random.ts';

/** A decoder of bytes from untrusted sources. */
export type Decoder = {
  readonly name: string;
  /** Inputs as honest writers make them; each is decoded without an error. */
  readonly samples: readonly Buffer[];
  /** Draws a nearly valid input with wrong lengths, counts or types. */
  readonly grammar: (random: Random) => Buffer;
  /** Decodes, and uses what it has decoded as the product does. */
  readonly decode: (input: Buffer) => unknown;
  /** Errors with which it may refuse a bad input. */
  readonly errors: readonly ErrorCode[];
};

const GRAMMAR_SHARE = 0.75;
const PLAIN_GRAMMAR_SHARE = 0.8;
/** A large odd step, so that the random numbers of neighbouring inputs differ. */
const SEED_STEP = 0x9e_37_79_b1;

/** Draws input `index` of the sequence of a seed. */
export function drawInput({ samples, grammar }: Decoder, seed: number, index: number): Buffer {
  const random = new Random(seed + Math.imul(index, SEED_STEP));
  if (!random.chance(GRAMMAR_SHARE)) return mutate(random, random.pick(samples), random.pick(samples));
  const drawn = grammar(random);
  return random.chance(PLAIN_GRAMMAR_SHARE) ? drawn : mutate(random, drawn, random.pick(samples));
}
