import type { Kysely } from 'kysely';
import type { SkeinError } from '#shared/error.ts';
import type { HistoryDatabase } from './history-database.ts';

/**
 * Ends the history record of a statement whose coordinator died or lost the lead, in the name of the term that found out; without a failure it
 * was completed. What an earlier term still says of it is not stored any more (`store-records.ts`).
 */
export async function endRecord(
  db: Kysely<HistoryDatabase>,
  { recordId, epoch }: { readonly recordId: string; readonly epoch: number },
  failure: SkeinError | null,
): Promise<void> {
  await db
    .updateTable('query_history')
    .set({
      status: failure === null ? 'completed' : 'failed',
      ended_at: new Date(),
      epoch,
      error_code: failure?.code ?? null,
      error_message: failure?.message ?? null,
    })
    .where('record_id', '=', recordId)
    .where('status', 'in', ['queued', 'running'])
    .execute();
}
