import type { DeletesOf } from '#shared/iceberg/write/change-rows.ts';
import type { ScanFile } from '#proto/task.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import type { Description } from '../operation/description.ts';
import type { Returning } from '../operation/queries.ts';
import type { WriteOutcome } from '../operation/writes.ts';
import type { Delete } from '../operation/row-write.ts';
import { icebergSqlType } from '../plan/iceberg-sql-type.ts';
import type { AsProven } from '../statement/proven.ts';
import { MatchedRows, matchQuery } from './matched-rows.ts';
import { liveRows, planChanges } from './plan-changes.ts';
import {
  addressedTarget,
  changeOf,
  modeOf,
  readTarget,
  requireSame,
  withRestarts,
  writeChanges,
  type Replaced,
  type RowServices,
} from './replace-rows.ts';
import { deletedFiles, planReturning } from './returned-rows.ts';
import { rewriteQuery } from './rewrite-query.ts';

/**
 * Deletes the rows for which a condition holds:
 * ```
 * condition ─▶ files and positions ─▶ for each file: it goes │ its positions are written │ its other rows are written anew ─▶ one commit
 * ```
 * The condition is evaluated once, and not at all when there is none.
 */
export const deleteRows = (input: Delete<AsProven>, services: RowServices): Promise<WriteOutcome> =>
  withRestarts(services, () => deleteOnce(input, services));

/** The types of the parameters. */
export async function describeDelete(
  input: Delete<AsProven>,
  { target, queries }: RowServices,
): Promise<Description['parameters']> {
  const text = matchQuery(await addressedTarget(input.table, target), input);
  return (await queries.describe(input.rest, text)).parameters;
}

async function deleteOnce(input: Delete<AsProven>, services: RowServices): Promise<WriteOutcome> {
  const { target, all } = await readTarget(input.table, services);
  const returning = await planReturning(input, target, { queries: services.queries, of: 'deleted' });
  const rows = input.where === null && input.from === null ? sumOf(all.map(liveRows)) : null;
  if (rows !== null) {
    const outcome = { count: rows, bytesScanned: 0, fragments: 0 };
    const changes = all.map((file) => ({ kind: 'remove', file }) as const);
    if (all.length === 0) return { ...outcome, ...(await returning?.read([], 0)) };
    return change({ target, all, changes, returning, deleted: null }, outcome, services);
  }
  const matched = new MatchedRows();
  const found = await services.queries.texts(input.rest, matchQuery(target, input), matched);
  await requireSame(input.table, target, services);
  const outcome = { ...found, count: matched.size };
  if (matched.size === 0) {
    await returning?.read([], 0);
    return outcome;
  }
  const { formatVersion } = target.base;
  const changes = planChanges(all, matched.files, { mode: modeOf(target, 'delete'), formatVersion });
  return change({ target, all, changes, returning, deleted: matched.files }, outcome, services);
}

type Change = Replaced & {
  readonly returning: Returning | null;
  /** The rows that go; null = all. */
  readonly deleted: MatchedRows['files'] | null;
};

/** Writes the files of a change, and commits it. @param outcome of what was done before */
async function change(replaced: Change, outcome: WriteOutcome, { queries, write }: RowServices): Promise<WriteOutcome> {
  const { target, all, returning, deleted } = replaced;
  const { schema } = rewriteQuery(target);
  let deletes: readonly DeletesOf[] = [];
  let returned: readonly ScanFile[] = all;
  const written = await write({
    read: () => returning?.read(returned, outcome.count),
    run: async (destinationOf) => {
      const columns = schema.fields.map(({ name, type }) => ({ name, type: icebergSqlType(type) }));
      const destination = await destinationOf(columns, true);
      if (returning !== null && deleted !== null) {
        const { folder } = destination.sink;
        const storage = openStorage(target.base.location, target.credential);
        // Before positions that have gone earlier come to them.
        returned = await deletedFiles(all, deleted, { storage, folder });
      }
      const made = await writeChanges(replaced, destination, queries);
      ({ deletes } = made);
      return made;
    },
    assign: () => Promise.resolve({ target, assignments: schema.fields.map((field, source) => ({ field, source })) }),
    schema,
    change: (rewritten) => changeOf(replaced, { deletes, rewritten, added: [] }, 'delete'),
    others: () => deletes.map(({ path }) => path),
  });
  return {
    count: outcome.count,
    bytesScanned: outcome.bytesScanned + written.bytesScanned,
    fragments: outcome.fragments + written.fragments,
  };
}

/** The sum; null when a part is not known. */
const sumOf = (parts: readonly (number | null)[]): number | null =>
  parts.reduce<number | null>((sum, part) => (sum === null || part === null ? null : sum + part), 0);
