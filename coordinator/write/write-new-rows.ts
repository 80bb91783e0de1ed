import type { ScanFile } from '#proto/task.ts';
import { SkeinError } from '#shared/error.ts';
import type { DeletesOf } from '#shared/iceberg/write/change-rows.ts';
import type { Field } from '#shared/iceberg/type.ts';
import { must } from '#shared/must.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import type { Destination, Returning } from '../operation/queries.ts';
import type { WriteOutcome, WriteTarget } from '../operation/writes.ts';
import type { SqlField } from '../plan/sql-type.ts';
import type { DerivedText } from '../statement/derived-text.ts';
import type { ObjectName, TextSpan } from '../statement/statement.ts';
import type { Assignment } from './assign-columns.ts';
import { MatchedRows } from './matched-rows.ts';
import { planChanges } from './plan-changes.ts';
import { changeOf, modeOf, requireSame, writeChanges, type Replaced, type RowServices } from './replace-rows.ts';
import { deletedFiles, writtenFiles } from './returned-rows.ts';
import { rewriteQuery } from './rewrite-query.ts';

/** A query of new rows, each with the address of the row whose place it takes. */
type NewRows = {
  readonly verb: 'update' | 'merge';
  readonly name: ObjectName;
  readonly target: WriteTarget;
  /** Every file of the snapshot. */
  readonly all: readonly ScanFile[];
  readonly query: TextSpan;
  /** Its last three columns are those of `TableSink.addresses`. */
  readonly text: DerivedText;
  readonly assignments: readonly Assignment[];
  /** Null without RETURNING. */
  readonly returning: Returning | null;
  /** @throws TYPE_MISMATCH */
  readonly check: (given: readonly SqlField[]) => void;
};

/**
 * Puts new rows in the place of others, in one snapshot; none when there is no row.
 * @returns the number of rows that go, change and come
 * @throws CARDINALITY_VIOLATION when a row goes or changes twice
 */
export async function writeNewRows(rowsOf: NewRows, services: RowServices): Promise<WriteOutcome> {
  const { queries, write } = services;
  const { verb, name, target, all, query, text, assignments, check, returning } = rowsOf;
  const { schema } = rewriteQuery(target);
  let replaced: Replaced = { target, all, changes: [] };
  let deletes: readonly DeletesOf[] = [];
  let added: ReadonlySet<string> = new Set();
  let count = 0;
  let deleted: readonly ScanFile[] = [];
  const written = await write({
    run: async (destinationOf) => {
      let destination: Destination | undefined;
      const rows = await queries.write(query, text, async (given, isOrdered) => {
        const made = await destinationOf(given, isOrdered);
        destination = made;
        return made;
      });
      const matched = new MatchedRows();
      matched.add(rows.replaced ?? []);
      if (matched.rows > matched.size) throw twice();
      const written = rows.files.reduce((sum, { recordCount }) => sum + recordCount, 0);
      count = matched.size + written - matched.replaced;
      if (count === 0) return { ...rows, files: [] };
      await requireSame(name, target, services);
      added = new Set(rows.files.map(({ path }) => path));
      const { formatVersion } = target.base;
      const changes = planChanges(all, matched.files, { mode: modeOf(target, verb), formatVersion });
      replaced = { target, all, changes };
      const { addresses: _addresses, ...sink } = must(destination, 'a query that ran has its destination').sink;
      if (returning !== null) {
        const storage = openStorage(target.base.location, target.credential);
        deleted = await deletedFiles(all, matched.deleted, { storage, folder: sink.folder });
      }
      const inPlace = await writeChanges(
        replaced,
        { sink: { ...sink, keepsOrder: true }, sql: keptRows(schema.fields) },
        queries,
      );
      ({ deletes } = inPlace);
      return {
        files: [...rows.files, ...inPlace.files],
        bytesScanned: rows.bytesScanned + inPlace.bytesScanned,
        fragments: rows.fragments + inPlace.fragments,
      };
    },
    assign: (given) => {
      check(given);
      return Promise.resolve({ target, assignments });
    },
    schema,
    isAddressed: true,
    read: (files) => {
      const isAdded = files.filter(({ path }) => added.has(path));
      return returning?.read([...writtenFiles(target, isAdded), ...deleted], count);
    },
    change: (files) => {
      if (count === 0) return null;
      const isNew = Map.groupBy(files, ({ path }) => added.has(path));
      return changeOf(replaced, { deletes, rewritten: isNew.get(false) ?? [], added: isNew.get(true) ?? [] }, verb);
    },
    others: () => deletes.map(({ path }) => path),
  });
  return { ...written, count };
}

/** The rows of a file that is written anew are the table's as they are. */
const keptRows = (fields: readonly Field[]): Destination['sql'] => {
  const names = fields.map(({ name }) => quoteIdentifier(name)).join(', ');
  return (sql) => [`SELECT ${names} FROM (`, ...sql, '\n)'];
};

const twice = (): SkeinError =>
  new SkeinError('CARDINALITY_VIOLATION', 'a row of the table matches more than one row of the other tables');
