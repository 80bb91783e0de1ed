import type { Procedure } from './procedure.ts';
import { sizeValue } from './values.ts';

/** Files from this size on stay as they are, as in Trino. */
export const THRESHOLD_BYTES = 100 * 2 ** 20;

/**
 * `optimize(file_size_threshold => '100MB') [WHERE condition]`: writes the rows of small files into larger ones, partition by partition, and
 * files with deletes without the rows that are deleted. A condition restricts it to files that may hold a row for which it is true.
 */
export const optimize: Procedure = {
  parameters: ['file_size_threshold'],
  takesCondition: true,
  async run(table, values, { context, dryRun, where, spent }) {
    const thresholdBytes = sizeValue(values, 'file_size_threshold') ?? THRESHOLD_BYTES;
    const done = await context.writes.optimize({
      table,
      where: await context.queries.prove((take) => take('expression', where)),
      thresholdBytes,
      dryRun,
    });
    spent(done.cost);
    return [
      ['rewritten_data_files_count', done.rewrittenFiles],
      ['removed_delete_files_count', done.removedDeleteFiles],
      ['added_data_files_count', done.addedFiles],
    ];
  },
};
