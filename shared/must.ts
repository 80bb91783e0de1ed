/**
 * Returns `value`, or throws an internal error that says `why` it had to exist. This is the only way to remove `| undefined` from a type.
 */
export function must<T>(value: T | null | undefined, why: string): T {
  if (value === null || value === undefined) throw new Error(`invariant: ${why}`);
  return value;
}

/** Ends every dispatch on a `kind`: the compiler proves that all variants are handled. */
export function unreachable(value: never, what = 'variant'): never {
  throw new Error(`invariant: unknown ${what} ${JSON.stringify(value)}`);
}
