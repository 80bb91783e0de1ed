import { RepeatBudget } from '#shared/storage/storage-use.ts';
import { appendFiles } from '#shared/iceberg/write/append-files.ts';
import { requireWritable } from '#shared/iceberg/write/require-writable.ts';
import { copyFiles, explainCopy } from '../copy/copy-files.ts';
import type { Answer } from '../operation/answer.ts';
import type { CommandContext } from '../operation/command-context.ts';
import type { CopyInto } from '../operation/copy-into.ts';
import type { Description } from '../operation/description.ts';
import type { ExplainOptions } from '../operation/explain-options.ts';
import type { Optimize, Optimized } from '../operation/optimize-request.ts';
import type { Outcome } from '../operation/outcome.ts';
import type { Refresh } from '../operation/refresh-request.ts';
import type { Delete, Insert, Merge, RowWrite, Update } from '../operation/row-write.ts';
import type { Analyze, Analyzed, ObservedWrite, WriteOutcome, Writes, WriteTarget } from '../operation/writes.ts';
import type { TableName } from '../binding/table-source.ts';
import type { SqlField } from '../plan/sql-type.ts';
import { wholeText } from '../statement/derived-text.ts';
import type { TextSpan } from '../statement/statement.ts';
import { analyzeTable } from '../write/analyze-table.ts';
import { deleteRows } from '../write/delete-rows.ts';
import { describeWrite } from '../write/describe-write.ts';
import { explainWrite } from '../write/explain-write.ts';
import { fileBytes } from '../write/file-bytes.ts';
import { insertRows } from '../write/insert-rows.ts';
import { mergeRows } from '../write/merge-rows.ts';
import { optimizeFiles } from '../write/optimize-files.ts';
import { optimizeManifests } from '../write/optimize-manifests.ts';
import { proveDelete, proveInsert, proveMerge, proveUpdate } from '../write/prove-write.ts';
import { refreshRows } from '../write/refresh-rows.ts';
import type { RowServices } from '../write/replace-rows.ts';
import { costOf, rowsOf } from '../write/returned-rows.ts';
import { columnByColumn, RunningWrite } from '../write/running-write.ts';
import { updateRows } from '../write/update-rows.ts';
import { WriteReport } from '../write/write-report.ts';
import type { WriteParts, WriteServices } from '../write/write-services.ts';
import { namedTarget, targetOf } from '../write/write-target.ts';

/** The writes of one statement. `RunningWrite` has the way of each: plan, intent, files, commit. */
export class StatementWrites implements Writes {
  readonly #services: WriteServices;
  readonly #context: () => CommandContext;
  readonly #repeats = new RepeatBudget();
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

  explain(write: RowWrite, options: ExplainOptions): Promise<readonly string[]> {
    return explainWrite(write, options, this.#rowServices());
  }

  observe(): ObservedWrite {
    this.#report = new WriteReport();
    return this.#report;
  }

  /** The table is made, though the query has no row. */
  async createAs(
    query: TextSpan,
    newTarget: (columns: readonly SqlField[]) => Promise<WriteTarget>,
  ): Promise<WriteOutcome> {
    const rows = await this.#context().queries.planWrite(query, wholeText(query));
    const target = await newTarget(rows.columns);
    requireWritable(target.schema.fields);
    await using write = await RunningWrite.begin(this.#parts(), target);
    const { files, ...cost } = await write.run(rows, { assignments: columnByColumn(target.schema) });
    await write.end(appendFiles(files), { files });
    return { count: rowsOf(files), ...costOf(cost) };
  }

  refresh(input: Refresh<WriteTarget>): Promise<WriteOutcome> {
    const context = this.#context();
    return refreshRows(input, { ...this.#rowServices(), targetOf: (table) => targetOf(table, context) });
  }

  async optimize(input: Optimize): Promise<Optimized> {
    const target = await targetOf(input.table, this.#context());
    const { config } = this.#services;
    return optimizeFiles(input, { ...this.#rowServices(), target, fileBytes: fileBytes(target.base, config) });
  }

  analyze(input: Analyze): Promise<Analyzed> {
    return analyzeTable(input, this.#rowServices());
  }

  optimizeManifests(table: TableName, dryRun: boolean): Promise<{ rewritten: number; added: number }> {
    return optimizeManifests(table, { dryRun }, this.#parts());
  }

  #rowServices(): RowServices {
    const context = this.#context();
    return {
      queries: context.queries,
      target: (name) => namedTarget(name, context),
      begin: (target) => RunningWrite.begin(this.#parts(), target),
    };
  }

  #parts(): WriteParts {
    return { ...this.#services, context: this.#context(), report: this.#report, repeats: this.#repeats };
  }
}
