import type { ErrorCode } from '#shared/error.ts';
import { mutate } from './mutate.ts';
import { Random } from './random.ts';

/** A reader of strangers' bytes. */
export type Decoder = {
  readonly name: string;
  /** Inputs as honest writers make them; each is decoded without an error. */
  readonly samples: readonly Buffer[];
  /** An input that is nearly right, with lies where the format has a length, a count or a type. */
  readonly grammar: (random: Random) => Buffer;
  /** Decodes, and uses what it has decoded as the product does. */
  readonly decode: (input: Buffer) => unknown;
  /** Errors with which it may refuse a bad input. */
  readonly errors: readonly ErrorCode[];
};

const GRAMMAR_SHARE = 0.75;
const PLAIN_GRAMMAR_SHARE = 0.8;
/** Odd, so that neighbouring numbers have nothing in common. */
const SEED_STEP = 0x9e_37_79_b1;

/** The input of a number in the sequence of a seed. */
export function drawInput({ samples, grammar }: Decoder, seed: number, index: number): Buffer {
  const random = new Random(seed + Math.imul(index, SEED_STEP));
  if (!random.chance(GRAMMAR_SHARE)) return mutate(random, random.pick(samples), random.pick(samples));
  const drawn = grammar(random);
  return random.chance(PLAIN_GRAMMAR_SHARE) ? drawn : mutate(random, drawn, random.pick(samples));
}
