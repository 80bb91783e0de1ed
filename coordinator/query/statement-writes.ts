import { randomUUID } from 'node:crypto';
import type { TableSink } from '#proto/task.ts';
import { decodeWrittenFile } from '#proto/written-file.ts';
import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import { printPartitionFields } from '#shared/iceberg/partition-spec.ts';
import { printSchema } from '#shared/iceberg/schema.ts';
import { dataFolder, metadataFolder } from '#shared/iceberg/table-folders.ts';
import { currentSchema, specById, type TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { appendFiles } from '#shared/iceberg/write/append-files.ts';
import { isUnknown, manifestBytes, rootsOf, writtenVersion } from '#shared/iceberg/write/commit-writes.ts';
import type { NewDataFile } from '#shared/iceberg/write/data-file.ts';
import { mergeAllManifests, type ManifestMerging } from '#shared/iceberg/write/merge-manifests.ts';
import { NOTHING_ADDED } from '#shared/iceberg/write/snapshot-summary.ts';
import { requireWritable } from '#shared/iceberg/write/require-writable.ts';
import type { SnapshotChange } from '#shared/iceberg/write/snapshot-change.ts';
import { partitionTypes } from '#shared/iceberg/write/write-manifest.ts';
import { printJson, type JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import type { LoadsChange } from '#shared/iceberg/stage-loads.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { loadWithFiles, writeCatalog } from '../catalog-client/write-catalog.ts';
import type { Answer } from '../operation/answer.ts';
import { atName } from '../operation/at-name.ts';
import { changeTable, type MetadataChange } from '../operation/change-table.ts';
import type { ExplainOptions } from '../operation/explain-options.ts';
import type { Description } from '../operation/description.ts';
import type { Analyze, Analyzed, ObservedWrite, WriteOutcome, Writes, WriteTarget } from '../operation/writes.ts';
import type { CommandContext } from '../operation/command-context.ts';
import type { Outcome } from '../operation/outcome.ts';
import type { Delete, Insert, Merge, RowWrite, Update } from '../operation/row-write.ts';
import type { Optimize, Optimized } from '../operation/optimize-request.ts';
import { copyFiles, explainCopy } from '../copy/copy-files.ts';
import type { CopyInto } from '../operation/copy-into.ts';
import { qualify } from '../operation/qualify.ts';
import type { SqlField } from '../plan/sql-type.ts';
import type { ActiveQuery } from './active-query.ts';
import type { TableName } from '../binding/table-source.ts';
import { callersTables } from '../session/callers-tables.ts';
import { wholeText } from '../statement/derived-text.ts';
import type { ObjectName, TextSpan } from '../statement/statement.ts';
import { suffixedName } from '../resolver/table-suffix.ts';
import { analyzeTable } from '../write/analyze-table.ts';
import { atBranch } from '../write/branch-target.ts';
import { explainWrite } from '../write/explain-write.ts';
import type { CommitQueue } from '../write/commit-queue.ts';
import { deleteRows } from '../write/delete-rows.ts';
import { describeWrite } from '../write/describe-write.ts';
import { insertRows } from '../write/insert-rows.ts';
import { optimizeFiles } from '../write/optimize-files.ts';
import { mergeRows } from '../write/merge-rows.ts';
import type { RowServices } from '../write/replace-rows.ts';
import type { Assigned, RowsOf } from '../write/rows-of.ts';
import type { Refresh } from '../operation/refresh-request.ts';
import { proveDelete, proveInsert, proveMerge, proveUpdate } from '../write/prove-write.ts';
import { principalOf } from '../write/principal-of.ts';
import { refreshRows } from '../write/refresh-rows.ts';
import { rowsOf } from '../write/returned-rows.ts';
import { TableCommit } from '../write/table-commit.ts';
import { addressNames, nullColumn, tableRows } from '../write/table-rows.ts';
import { updateRows } from '../write/update-rows.ts';
import { WriteReport } from '../write/write-report.ts';
import { endLater, type OpenWrite, type WriteJournal } from '../write/write-journal.ts';

export type WriteServices = {
  readonly config: Config;
  readonly journal: Pick<WriteJournal, 'begin' | 'newKey'>;
  readonly commits: Pick<CommitQueue<TableCommit>, 'run'>;
  readonly statement: Pick<ActiveQuery, 'recordId' | 'mayHaveRetried' | 'beginCommit' | 'endLater' | 'settled'>;
};

type MakeChange = (writeId: string) => Promise<(base: TableMetadata) => MetadataChange>;

type Commit = {
  readonly writeId: string;
  readonly change: SnapshotChange;
  readonly appended: readonly NewDataFile[] | null;
  readonly viewChange?: JsonObject | undefined;
  readonly loads?: LoadsChange | undefined;
  readonly open: OpenWrite | undefined;
};

/**
 * The writes of one statement:
 * ```
 * target table ─▶ intent ─▶ query, whose last stage writes files ─▶ file facts ─▶ one commit
 * ```
 * A statement that fails deletes its files. When the outcome of its commit is unknown, it is answered with that, and ends in the background.
 */
export class StatementWrites implements Writes {
  readonly #services: WriteServices;
  readonly #context: () => CommandContext;
  #report: WriteReport | undefined;

  constructor(services: WriteServices, context: () => CommandContext) {
    this.#services = services;
    this.#context = context;
  }

  async insert(input: Insert): Promise<WriteOutcome> {
    const services = this.#rowServices();
    return insertRows(await proveInsert(input, services.queries), services);
  }

  copy(input: CopyInto): Promise<Outcome & { readonly answer: Answer | null }> {
    return copyFiles(input, { ...this.#rowServices(), context: this.#context() });
  }

  explainCopy(input: CopyInto, options: ExplainOptions): Promise<readonly string[]> {
    return explainCopy(input, options, { ...this.#rowServices(), context: this.#context() });
  }

  describe(write: RowWrite): Promise<Description> {
    return describeWrite(write, this.#rowServices());
  }

  async delete(input: Delete): Promise<WriteOutcome> {
    const services = this.#rowServices();
    return deleteRows(await proveDelete(input, services.queries), services);
  }

  async update(input: Update): Promise<WriteOutcome> {
    const services = this.#rowServices();
    return updateRows(await proveUpdate(input, services.queries), services);
  }

  async merge(input: Merge): Promise<WriteOutcome> {
    const services = this.#rowServices();
    return mergeRows(await proveMerge(input, services.queries), services);
  }

  #rowServices(): RowServices {
    const { queries } = this.#context();
    return { queries, target: (name) => this.#target(name), write: (rows) => this.#write(rows) };
  }

  explain(write: RowWrite, options: ExplainOptions): Promise<readonly string[]> {
    return explainWrite(write, options, this.#rowServices());
  }

  observe(): ObservedWrite {
    this.#report = new WriteReport();
    return this.#report;
  }

  createAs(query: TextSpan, targetOf: (columns: readonly SqlField[]) => Promise<WriteTarget>): Promise<WriteOutcome> {
    const { queries } = this.#context();
    return this.#write({
      run: (destinationOf) => queries.write(query, wholeText(query), destinationOf),
      assign: async (columns) => {
        const target = await targetOf(columns);
        requireWritable(target.schema.fields);
        return { target, assignments: target.schema.fields.map((field, source) => ({ field, source })) };
      },
      // The table is made, though the query has no row.
      change: appendFiles,
    });
  }

  refresh(input: Refresh<WriteTarget>): Promise<WriteOutcome> {
    return refreshRows(input, { ...this.#rowServices(), targetOf: (table) => this.#targetOf(table) });
  }

  async optimize(input: Optimize): Promise<Optimized> {
    const target = await this.#targetOf(input.table);
    return optimizeFiles(input, { ...this.#rowServices(), target, fileBytes: this.#fileBytes(target.base) });
  }

  analyze(input: Analyze): Promise<Analyzed> {
    const { queries } = this.#context();
    const change = (target: WriteTarget, make: MakeChange): Promise<void> => this.#changeMetadata(target, make);
    return analyzeTable(input, { queries, target: (name) => this.#target(name), change });
  }

  async optimizeManifests(table: TableName, dryRun: boolean): Promise<{ rewritten: number; added: number }> {
    const target = await this.#targetOf(table);
    const { base, name, credential } = target;
    const { currentSnapshotId: snapshotId } = base;
    if (snapshotId === null) return { rewritten: 0, added: 0 };
    const { tableUuid, formatVersion, location, fields, specs, defaultSpecId, snapshots } = base;
    const known = { tableUuid, formatVersion, location, fields, specs, defaultSpecId, snapshots };
    const allowedRoots = rootsOf(base);
    const reader = this.#context().files.manifests({ name, credential });
    const manifests = await reader.list({ table: known, snapshotId, allowedRoots });
    const merging = mergeAllManifests(base.properties, allowedRoots, manifestBytes(base));
    const bins = merging.bins(manifests, null);
    if (!dryRun && bins.length > 0) {
      const writeId = randomUUID();
      await this.#commit(target, { writeId, change: rearranged(merging), appended: null, open: undefined });
    }
    return { rewritten: bins.reduce((sum, { length }) => sum + length, 0), added: bins.length };
  }

  /** @throws as a query of the table does, FORBIDDEN, NOT_SUPPORTED for a table that cannot be written */
  #target(name: ObjectName): Promise<WriteTarget> {
    const found = qualify(name, this.#context()).then((table) => this.#namedTarget(table));
    return atName(name, found);
  }

  /** The table of this name, else that of its first part at the branch of the second: `orders@june`. */
  async #namedTarget(table: TableName): Promise<WriteTarget> {
    const { tables, signal } = this.#context();
    const suffix = suffixedName(table.table, 0);
    if (suffix?.travel?.kind !== 'ref' || suffix.metadataTable !== null) return this.#targetOf(table);
    const [whole] = await tables.loadTables([table], signal);
    if (whole?.kind !== 'missing' || whole.code !== 'TABLE_NOT_FOUND') return this.#targetOf(table);
    return atBranch(await this.#targetOf({ ...table, table: suffix.table }), suffix.travel.ref);
  }

  async #targetOf(table: TableName): Promise<WriteTarget> {
    const { tables, signal } = this.#context();
    const found = await loadWithFiles(this.#context(), tables, { name: table, signal });
    const { name, metadata: base, allowedRoots, credential } = found;
    const schema = currentSchema(base);
    writtenVersion(base);
    requireWritable(schema.fields);
    const spec = specById(base, base.defaultSpecId);
    const unknown = spec.fields.find(({ transform }) => transform.kind === 'unknown');
    if (unknown !== undefined) {
      throw new SkeinError('NOT_SUPPORTED', `the transform of the partition field ${unknown.name} is not known`);
    }
    return { name, shape: 'keep', base, schema, spec, allowedRoots, credential };
  }

  async #write(rows: RowsOf): Promise<WriteOutcome> {
    const { run, assign, schema: written, change, others = () => [], isAppend = false, isAddressed = false } = rows;
    const { viewChange } = rows;
    const { caller } = this.#context();
    const { journal, statement } = this.#services;
    const writeId = randomUUID();
    const mark = `skein-${writeId}`;
    const startMs = performance.now();
    let assigned: Assigned | undefined;
    let open: OpenWrite | undefined;
    try {
      const {
        files: reported,
        bytesScanned,
        fragments,
      } = await run(async (columns, isOrdered) => {
        assigned = await assign(columns);
        const { target, assignments } = assigned;
        const { base } = target;
        const places = { data: `${dataFolder(base)}/${writeId}`, metadata: metadataFolder(base) };
        const principal = principalOf(caller.claims);
        open = await journal.begin({ writeId, recordId: statement.recordId, principal, places });
        const sink = {
          ...this.#sink({ ...target, schema: written ?? target.schema }, places.data),
          keepsOrder: isOrdered,
        };
        if (!isAddressed) return { sink, sql: (sql) => tableRows(sql, { assignments, columns, mark }) };
        const addresses = addressNames(assignments);
        return {
          sink: { ...sink, addresses },
          sql: (sql) => tableRows(sql, { assignments, columns, mark, addresses }),
        };
      });
      const { target } = must(assigned, 'a query that ran has its destination');
      const { schema, spec } = target;
      const types = partitionTypes(schema, spec);
      const files = reported.map((file) => decodeWrittenFile(file, types));
      const made = change(files);
      const read = await rows.read?.(files);
      this.#report?.wrote({ target, files, elapsedMs: performance.now() - startMs });
      await open?.names([...files.map(({ path }) => path), ...others()], statement.mayHaveRetried);
      if (made !== null) {
        await this.#commit(target, {
          writeId,
          change: made,
          appended: isAppend ? files : null,
          loads: rows.loads === undefined ? undefined : { loaded: rows.loads() },
          viewChange,
          open,
        });
      }
      open?.committed();
      return {
        bytesScanned: bytesScanned + (read?.bytesScanned ?? 0),
        fragments: fragments + (read?.fragments ?? 0),
        count: rowsOf(files),
      };
    } catch (error) {
      if (!isUnknown(error)) await open?.discard();
      else if (open !== undefined) endLater(statement, open);
      throw nullColumn(error, assigned?.assignments ?? [], mark);
    }
  }

  /** Writes files in the folder of the metadata, and commits a change that names them. */
  async #changeMetadata({ base, name }: WriteTarget, make: MakeChange): Promise<void> {
    const { caller } = this.#context();
    const { journal, statement } = this.#services;
    const writeId = randomUUID();
    const places = { data: `${dataFolder(base)}/${writeId}`, metadata: metadataFolder(base) };
    const principal = principalOf(caller.claims);
    const open = await journal.begin({ writeId, recordId: statement.recordId, principal, places });
    try {
      await changeTable(this.#context(), name, await make(writeId), { newKey: () => journal.newKey([open]) });
      open.committed();
    } catch (error) {
      if (!isUnknown(error)) await open.discard();
      else endLater(statement, open);
      throw error;
    }
  }

  #sink({ base, schema, spec, allowedRoots, credential }: WriteTarget, folder: string): Omit<TableSink, 'keepsOrder'> {
    const { config } = this.#services;
    return {
      schema: printJson(printSchema(schema)),
      spec: printJson({ 'spec-id': spec.specId, fields: printPartitionFields(spec.fields) }),
      folder,
      allowedRoots,
      credential,
      codec: base.properties['write.parquet.compression-codec'] ?? null,
      codecLevel: base.properties['write.parquet.compression-level'] ?? null,
      rowGroupRows: config['load.row_group_rows'],
      fileBytes: this.#fileBytes(base),
    };
  }

  /** Size at which a file of the table ends and the next one begins. */
  #fileBytes({ properties }: TableMetadata): number {
    return Number(properties['write.target-file-size-bytes']) || this.#services.config['load.data_file_bytes'];
  }

  async #commit(
    { allowedRoots: _roots, credential, ...target }: WriteTarget,
    { writeId, change, loads, viewChange, ...commit }: Commit,
  ): Promise<void> {
    const { caller, catalog, signal, files } = this.#context();
    const { config, statement, journal, commits } = this.#services;
    // The statement's own tables would stay as they were when it began.
    const tables = callersTables(catalog, caller);
    const tableCommit = new TableCommit({
      ...commit,
      viewChange,
      write: { ...target, writeId, change, loads },
      principal: principalOf(caller.claims),
      catalog: writeCatalog(catalog, caller.claims, tables),
      storage: openStorage(target.base.location, credential),
      manifests: files.manifests({ name: target.name, credential }),
      journal,
      retriesMax: config['catalog.commit_retries_max'],
      signal,
      begin: () => statement.beginCommit(),
    });
    const startMs = performance.now();
    await commits.run(target.base.tableUuid, tableCommit);
    const made = must(tableCommit.made, 'it is committed');
    this.#report?.committed({ change, made, elapsedMs: performance.now() - startMs });
  }
}

/** The change that leaves the files as they are, in merged manifests. */
const rearranged = (merging: ManifestMerging): SnapshotChange => ({
  operation: 'replace',
  counts: NOTHING_ADDED,
  manifests: (writer, parent) => merging.apply(writer, parent),
});
