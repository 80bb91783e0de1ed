import type { Spelling } from './dialect.ts';

/** The text between two brackets, or between CASE and END, or all of it. */
export type Frame = {
  readonly opener: 'all' | '(' | 'CASE';
  readonly call: Spelling | 'cast' | null;
  /** Operators since the last border: comparisons do not chain everywhere, and `||` binds differently. */
  comparisons: number;
  hasSum: boolean;
  hasConcat: boolean;
  isBetween: boolean;
  /** The item of an ORDER BY that is being read, from the token at `start`. */
  order: { readonly start: number; isDescending: boolean; hasNulls: boolean } | null;
  /** It is that of OVER (...), where names are those of columns alone. */
  readonly isWindow: boolean;
  isHaving: boolean;
};

export const newFrame = (opener: Frame['opener'], call: Frame['call']): Frame => ({
  opener,
  call,
  comparisons: 0,
  hasSum: false,
  hasConcat: false,
  isBetween: false,
  order: null,
  isWindow: false,
  isHaving: false,
});

/** A border: what stands before it binds with nothing behind. */
export function beginPart(frame: Frame): void {
  frame.comparisons = 0;
  frame.hasSum = false;
  frame.hasConcat = false;
  frame.isBetween = false;
}
