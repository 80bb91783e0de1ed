import { SkeinError } from '#shared/error.ts';

/** Gives the user's errors of `work` the position of a name. */
export async function withNamePosition<T>({ position }: { readonly position: number }, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (thrown) {
    const error = SkeinError.of(thrown);
    if (error.entry.kind !== 'user' || error.position !== undefined) throw error;
    throw error.at(position);
  }
}
