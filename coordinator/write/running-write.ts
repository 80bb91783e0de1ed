import { randomUUID } from 'node:crypto';
import type { TableSink, WrittenFile } from '#shared/task/task.ts';
import { decodeWrittenFile } from '#shared/task/written-file.ts';
import { printPartitionFields } from '#shared/iceberg/partition-spec.ts';
import { printSchema, type Schema } from '#shared/iceberg/schema.ts';
import type { StageLoads } from '#shared/iceberg/stage-loads.ts';
import { dataFolder, metadataFolder } from '#shared/iceberg/table-folders.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { isUnknown } from '#shared/iceberg/write/commit-writes.ts';
import type { NewDataFile } from '#shared/iceberg/write/data-file.ts';
import type { SnapshotChange } from '#shared/iceberg/write/snapshot-change.ts';
import { partitionTypes } from '#shared/iceberg/write/manifest-rows.ts';
import { printJson, type JsonObject } from '#shared/json.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import type { Storage } from '#shared/storage/storage.ts';
import { statementUse } from '../catalog-client/fresh-key.ts';
import { changeTable, type MetadataChange } from '../operation/change-table.ts';
import type { PlannedRows, WrittenRows } from '../operation/planned-rows.ts';
import type { WriteTarget } from '../operation/writes.ts';
import type { Assignment } from './assign-columns.ts';
import { commitTable } from './commit-table.ts';
import { fileBytes } from './file-bytes.ts';
import { principalOf } from '#shared/authorization/principal.ts';
import { addressNames, nullColumn, tableRows } from './table-rows.ts';
import { endLater, type OpenWrite } from './write-journal.ts';
import type { WriteParts } from './write-services.ts';

/** The rows of the table that a query's columns give. */
type RowsInto = {
  readonly assignments: readonly Assignment[];
  /** The columns of the files when they are more than the table's. */
  readonly schema?: Schema;
  /** The query has three more columns (`TableSink.addresses`). */
  readonly isAddressed?: boolean;
  /** The rows keep their order; absent = when the query asks for one. */
  readonly keepsOrder?: boolean;
};

/** The end of a write: the files that the change names, and what is committed with it. */
type WriteEnd = {
  /** The files with rows. */
  readonly files: readonly NewDataFile[];
  /** Paths of the files that the change adds beside those. */
  readonly others?: readonly string[];
  /** The change is that the files are appended. */
  readonly isAppend?: boolean;
  /** The files of a stage whose rows they are. */
  readonly loaded?: StageLoads;
  /** As in `CommitOptions`. */
  readonly viewChange?: JsonObject;
};

/**
 * One write of a table. The order of its steps is what a crash at any moment leaves right:
 * ```
 * begin   the intent is in Postgres                        a crash from here on: whoever settles the intent deletes the write's folder
 * run     tasks write files into that folder
 * end     the names of the files are in the intent, when a task may have been tried twice; other files in the folder are nobody's
 *         the key of the attempt is in the intent, and then the commit is sent     a crash: the catalog says by the key how it ended
 *         the files that the commit names stay, all others go, and then the intent
 * ```
 * A write that is left without an end, by whatever error, deletes its files. When the outcome of the commit is unknown, the statement is
 * answered with that, and the write is settled in the background.
 */
export class RunningWrite implements AsyncDisposable {
  readonly target: WriteTarget;
  readonly storage: Storage;
  readonly #parts: WriteParts;
  readonly #open: OpenWrite;
  readonly #startMs = performance.now();
  /** Unique, so that no other error is taken for that of a missing value. */
  readonly #mark: string;
  #isOver = false;
  /** A task's store may have an upload whose answer was lost. */
  #mayHaveLostUpload = false;

  private constructor(parts: WriteParts, target: WriteTarget, open: OpenWrite) {
    const { catalog, caller, signal } = parts.context;
    this.#parts = parts;
    this.#open = open;
    this.target = target;
    this.storage = openStorage(
      target.base.location,
      target.credential,
      statementUse(catalog, caller.claims.tenant, { signal, repeats: parts.repeats }),
    );
    this.#mark = `skein-${open.intent.writeId}`;
  }

  /** @throws CATALOG_UNAVAILABLE when the intent cannot be written: then no file may be */
  static async begin(parts: WriteParts, target: WriteTarget): Promise<RunningWrite> {
    const { context, journal, statement } = parts;
    const { base } = target;
    const writeId = randomUUID();
    const places = { data: `${dataFolder(base)}/${writeId}`, metadata: metadataFolder(base) };
    const principal = principalOf(context.caller.claims);
    return new RunningWrite(
      parts,
      target,
      await journal.begin({ writeId, recordId: statement.recordId, principal, places }),
    );
  }

  get writeId(): string {
    return this.#open.intent.writeId;
  }

  /** The folder of its data files. */
  get folder(): string {
    return this.#open.intent.places.data;
  }

  /** Runs a query whose rows are those of new files. @throws NOT_NULL_VIOLATION, and what ends the query */
  async run<Written extends WrittenRows>(
    rows: PlannedRows<Written>,
    { assignments, schema = this.target.schema, isAddressed = false, keepsOrder = rows.isOrdered }: RowsInto,
  ): Promise<Omit<Written, 'files'> & { readonly files: readonly NewDataFile[] }> {
    const mark = this.#mark;
    const { columns } = rows;
    const addresses = isAddressed ? { addresses: addressNames(assignments) } : {};
    const sink = { ...this.#sink(schema), keepsOrder, ...addresses };
    try {
      const written = await rows.into({
        sink,
        sql: (sql) => tableRows(sql, { assignments, columns, mark, ...addresses }),
      });
      this.#mayHaveLostUpload ||= written.files.some(({ mayHaveLostUpload = false }) => mayHaveLostUpload);
      return { ...written, files: this.#decode(written.files) };
    } catch (error) {
      throw nullColumn(error, assignments, mark);
    }
  }

  /**
   * Ends the write. @param change of the table's snapshot; null = nothing changes, and no file stays
   * @throws COMMIT_CONFLICT, COMMIT_STATE_UNKNOWN, CATALOG_UNAVAILABLE
   */
  async end(
    change: SnapshotChange | null,
    { files, others = [], isAppend = false, ...with_ }: WriteEnd,
  ): Promise<void> {
    const { statement, report } = this.#parts;
    const { target, writeId } = this;
    const open = this.#open;
    report?.wrote({ target, files, elapsedMs: performance.now() - this.#startMs });
    const mayHaveLeft = statement.mayHaveRetried || this.#mayHaveLostUpload;
    await open.names([...files.map(({ path }) => path), ...others], mayHaveLeft);
    if (change !== null) {
      const { loaded, viewChange } = with_;
      const loads = loaded === undefined ? undefined : { loaded };
      const appended = isAppend ? files : null;
      await this.#orUnknown(commitTable(this.#parts, target, { writeId, change, appended, loads, viewChange, open }));
    }
    open.committed();
    this.#isOver = true;
  }

  /** Ends the write by a change of the table's metadata, which names files that were written into the folder of the metadata. */
  async endInMetadata(change: (base: TableMetadata) => MetadataChange): Promise<void> {
    const { context, journal } = this.#parts;
    const open = this.#open;
    await this.#orUnknown(changeTable(context, this.target.name, change, { newKey: () => journal.newKey([open]) }));
    open.committed();
    this.#isOver = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOver) await this.#open.discard();
  }

  /** Has the write settled behind the statement when it is unknown whether its commit happened. */
  async #orUnknown(commit: Promise<void>): Promise<void> {
    try {
      await commit;
    } catch (error) {
      if (isUnknown(error)) {
        this.#isOver = true;
        endLater(this.#parts.statement, this.#open);
      }
      throw error;
    }
  }

  #decode(files: readonly WrittenFile[]): readonly NewDataFile[] {
    const types = partitionTypes(this.target.schema, this.target.spec);
    return files.map((file) => decodeWrittenFile(file, types));
  }

  #sink(schema: Schema): Omit<TableSink, 'keepsOrder'> {
    const { base, spec, allowedRoots, credential } = this.target;
    const { config } = this.#parts;
    return {
      schema: printJson(printSchema(schema)),
      spec: printJson({ 'spec-id': spec.specId, fields: printPartitionFields(spec.fields) }),
      folder: this.folder,
      allowedRoots,
      credential,
      codec: base.properties['write.parquet.compression-codec'] ?? null,
      codecLevel: base.properties['write.parquet.compression-level'] ?? null,
      rowGroupRows: config['load.row_group_rows'],
      fileBytes: fileBytes(base, config),
    };
  }
}

/** Every column of a schema from the query's column in the same place. */
export const columnByColumn = ({ fields }: Schema): readonly Assignment[] =>
  fields.map((field, source) => ({ field, source }));
