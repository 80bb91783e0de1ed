import type { CommandContext } from '../operation/command-context.ts';
import type { Outcome } from '../operation/outcome.ts';
import type { WriteOutcome } from '../operation/writes.ts';

/** Answers a statement that has written rows: with their number, or with the rows of RETURNING, which have waited for the commit. */
export async function answerWrite(
  { returning }: { readonly returning: object | null },
  { count, ...outcome }: WriteOutcome,
  { answerCount, answerReturned }: CommandContext,
): Promise<Outcome> {
  const { rowsProduced } = await (returning === null ? answerCount(count) : answerReturned(count));
  return { ...outcome, rowsProduced };
}
