import type { Description } from '../operation/description.ts';
import type { Returning } from '../operation/queries.ts';
import type { WriteOutcome } from '../operation/writes.ts';
import type { Delete } from '../operation/row-write.ts';
import { isPoliced, requireUnmasked } from '../operation/policed-table.ts';
import type { AsProven } from '../statement/proven.ts';
import { MatchedRows, matchQuery } from './matched-rows.ts';
import { liveRows, planChanges } from './plan-changes.ts';
import {
  addressedTarget,
  snapshotChangeOf,
  modeOf,
  readTarget,
  requireSame,
  withRestarts,
  writeChanges,
  type Replaced,
  type RowServices,
} from './replace-rows.ts';
import { costOf, deletedFiles, planReturning } from './returned-rows.ts';

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
  if (input.returning !== null) requireUnmasked(target, 'RETURNING', input.table.position);
  const returning = await planReturning(input, target, { queries: services.queries, of: 'deleted' });
  const isAll = input.where === null && input.from === null && !isPoliced(target);
  const rows = isAll ? sumOf(all.map(liveRows)) : null;
  if (rows !== null) {
    const outcome = { count: rows, bytesScanned: 0, fragments: 0 };
    const changes = all.map((file) => ({ kind: 'remove', file }) as const);
    if (all.length === 0) return { ...outcome, ...(await returning?.read([], 0)) };
    return change({ target, all, changes, returning, deleted: null }, outcome, services);
  }
  const matched = new MatchedRows();
  const found = await services.queries.texts(input.rest, matchQuery(target, input), matched, 'addressed');
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
async function change(replaced: Change, outcome: WriteOutcome, { queries, begin }: RowServices): Promise<WriteOutcome> {
  const { target, all, returning, deleted } = replaced;
  await using write = await begin(target);
  // Before positions that have gone earlier come to them.
  const returned = returning === null || deleted === null ? all : await deletedFiles(all, deleted, write);
  const { deletes, files: rewritten, ...cost } = await writeChanges(replaced, write, queries);
  const read = await returning?.read(returned, outcome.count);
  const others = deletes.map(({ path }) => path);
  await write.end(snapshotChangeOf(replaced, { deletes, rewritten, added: [] }, 'delete'), {
    files: rewritten,
    others,
  });
  return { count: outcome.count, ...costOf(outcome, cost, read) };
}

/** The sum; null when a part is not known. */
const sumOf = (parts: readonly (number | null)[]): number | null =>
  parts.reduce<number | null>((sum, part) => (sum === null || part === null ? null : sum + part), 0);
