import { replaceFiles } from '#shared/iceberg/write/replace-files.ts';
import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import type { WriteTarget } from '../operation/writes.ts';
import { isPoliced } from '../operation/policed-table.ts';
import type { Optimize, Optimized } from '../operation/optimize-request.ts';
import { wholeText, type DerivedText } from '../statement/derived-text.ts';
import type { Proven } from '../statement/proven.ts';
import { SplicedText } from '../statement/spliced-text.ts';
import type { TextSpan } from '../statement/statement.ts';
import { chooseFiles, droppedDeletes } from './choose-files.ts';
import type { RowServices } from './replace-rows.ts';
import { costOf } from './returned-rows.ts';
import { rewriteQuery } from './rewrite-query.ts';
import { columnByColumn } from './running-write.ts';

type OptimizeServices = Pick<RowServices, 'queries' | 'begin'> & {
  readonly target: WriteTarget;
  /** Size at which a file ends and the next one begins. */
  readonly fileBytes: number;
};

/** Writes the rows of small files, and of files with deletes, into larger ones. */
export async function optimizeFiles(
  { where, thresholdBytes, dryRun }: Optimize,
  { queries, begin, target, fileBytes }: OptimizeServices,
): Promise<Optimized> {
  const { base, spec } = target;
  if (where !== null && isPoliced(target)) {
    const message =
      'policies apply to the table: which files a condition chooses would tell of rows that you may not see';
    throw new SkeinError('NOT_SUPPORTED', message, { position: where.offset });
  }
  const { schema, sql, files: list } = rewriteQuery(target);
  const all = await queries.files(...ownQuery(list));
  const wanted = where === null ? all : await queries.files(where, withCondition(list, where));
  const { parts, bins } = chooseFiles(wanted, { thresholdBytes, targetBytes: fileBytes });
  const removed = new Set(parts.flatMap((files) => files.map(({ path }) => path)));
  const removedDeletes = droppedDeletes(all, removed);
  let addedFiles = bins;
  let cost = { bytesScanned: 0, fragments: 0 };
  if (!dryRun && removed.size > 0) {
    const readAt = must(base.snapshots.get(must(base.currentSnapshotId, 'it has files')), 'it is there');
    const rows = await queries.planRewrite(sql, parts);
    await using write = await begin(target);
    const { files: added, ...written } = await write.run(rows, { assignments: columnByColumn(schema), schema });
    addedFiles = added.length;
    const { sequenceNumber } = readAt;
    const change = { operation: 'replace', removed, removedDeletes, added, specId: spec.specId } as const;
    await write.end(replaceFiles({ ...change, sequenceNumber, readAt: sequenceNumber }), { files: added });
    cost = costOf(written);
  }
  if (isPoliced(target)) return { rewrittenFiles: null, removedDeleteFiles: null, addedFiles: null, cost };
  return { rewrittenFiles: removed.size, removedDeleteFiles: removedDeletes.size, addedFiles, cost };
}

const ownQuery = (text: string): [TextSpan, DerivedText] => {
  const span = { text, offset: 0 };
  return [span, wholeText(span)];
};

/** A query with a condition that the user has written. */
const withCondition = (query: string, where: Proven<'expression'>): DerivedText =>
  new SplicedText(where).insert(`${query} WHERE (`).splice(where).insert(')');
