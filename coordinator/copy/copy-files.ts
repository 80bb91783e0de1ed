import { faultError } from '#shared/task/record-fault.ts';
import type { FileLoad } from '#shared/task/load-rules.ts';
import { SkeinError } from '#shared/error.ts';
import { appendFiles } from '#shared/iceberg/write/append-files.ts';
import { MAIN_BRANCH } from '#shared/iceberg/write/table-write.ts';
import { parseJson, printJson, type JsonObject } from '#shared/json.ts';
import type { Stage } from '../catalog-client/stage-catalog.ts';
import type { Answer } from '../operation/answer.ts';
import type { ExplainOptions } from '../operation/explain-options.ts';
import type { CommandContext } from '../operation/command-context.ts';
import type { Outcome } from '../operation/outcome.ts';
import type { WriteTarget } from '../operation/writes.ts';
import { openStage } from '../stage/open-stage.ts';
import { removeUnchanged, type StageFile } from '../stage/stage-files.ts';
import type { AsProven } from '../statement/proven.ts';
import { assignColumns } from '../write/assign-columns.ts';
import { printTarget, targetJson } from '../write/explain-write.ts';
import type { RowServices } from '../write/replace-rows.ts';
import { rowsOf } from '../write/returned-rows.ts';
import type { FileResult } from '../operation/copy-columns.ts';
import { copyAnswer, copyErrors, copyResults } from './copy-answer.ts';
import type { CopyInto } from '../operation/copy-into.ts';
import { copySource, findFiles, requireColumns, type CopySource } from './copy-source.ts';
import { guardedColumns, guardedText, strictText } from './copy-texts.ts';
import { validatedRows } from './validated-rows.ts';

type CopyServices = RowServices & { readonly context: CommandContext };
type Copied = Outcome & { readonly answer: Answer | null };

/** How often a statement begins again when others have loaded one of its files meanwhile. */
const RESTARTS_MAX = 10;
/** Most bytes of the paths of files that one statement loads: the commit names them all, in one message. */
const PATHS_BYTES_MAX = 3 * 2 ** 20;
/** Bytes that a file has in the commit beside its path. */
const FILE_BYTES = 80;

const NOTHING: Outcome = { rowsProduced: 0, bytesScanned: 0, fragments: 0 };

/**
 * Loads files of a stage into a table, each once: the catalog remembers a file in the transaction that commits its rows, and refuses a commit
 * that names one which another has brought meanwhile. Then the statement begins again, and leaves the file out.
 * ```
 * files ─▶ without those that were loaded ─▶ tasks write their rows ─▶ one commit, which names the files ─▶ PURGE ─▶ a row for each file
 * ```
 */
export async function copyFiles(written: CopyInto, services: CopyServices): Promise<Copied> {
  const copy = await proveCopy(written, services);
  for (let restarts = 0; ; restarts += 1) {
    try {
      return await copyOnce(copy, services);
    } catch (error) {
      if (SkeinError.of(error).code !== 'FILE_ALREADY_LOADED' || restarts >= RESTARTS_MAX) throw error;
      services.queries.forget();
    }
  }
}

const proveCopy = (copy: CopyInto, { queries }: CopyServices): Promise<CopyInto<AsProven>> =>
  queries.prove((take) => {
    const { select } = copy;
    const expressions = select?.expressions.map((one) => take('expression', one)) ?? [];
    return { ...copy, select: select === null ? null : { ...select, expressions } };
  });

async function copyOnce(copy: CopyInto<AsProven>, services: CopyServices): Promise<Copied> {
  const { validation } = copy.options;
  const target = await services.target(copy.table);
  requireColumns(copy, target);
  const found = await filesToLoad(copy, target, services);
  const { stage, files, skipped } = found;
  if (files.length === 0) {
    const isOfErrors = validation?.kind === 'errors';
    return { ...NOTHING, answer: isOfErrors ? copyErrors([], stage.location) : copyAnswer(skipped) };
  }
  requireFewBytes(files, copy.stage.position);
  const source = await copySource(copy, target, found, services.context);
  const loading = { copy, target, found, source };
  if (validation?.kind === 'rows') {
    const shown = validatedRows(copy, target, source, services);
    return { ...(await shown.catch((error: unknown) => failWithFault(error, loading, services))), answer: null };
  }
  const { loads, ...outcome } = await load(loading, services);
  if (validation !== null) return { ...outcome, answer: copyErrors(loads, stage.location) };
  const results = copyResults(files, loads, stage.location);
  if (found.purged !== null) await removeUnchanged(found.purged, loadedFiles(files, results, 'LOADED'));
  return { ...outcome, answer: copyAnswer([...skipped, ...results]) };
}

/** Says where the first record is that cannot be loaded. @param error what a query over the files says of it */
async function failWithFault(error: unknown, loading: Loading, services: CopyServices): Promise<never> {
  if (SkeinError.of(error).entry.kind !== 'user') throw error;
  const { loads } = await load(loading, services);
  const first = loads.toSorted((a, b) => (a.path < b.path ? -1 : 1)).find(({ faults }) => faults.length > 0);
  const { stage } = loading.found;
  const [fault] = first?.faults ?? [];
  if (first === undefined || fault === undefined) throw error;
  throw faultError(fault, first.path.slice(stage.location.length + 1), loading.copy.options.format);
}

type Found = {
  readonly stage: Stage;
  /** The stage with the right to delete its files; null = they stay. */
  readonly purged: Stage | null;
  readonly files: readonly StageFile[];
  /** Those that FILES names and that were loaded before; others are passed over in silence, as there may be many. */
  readonly skipped: readonly FileResult[];
};

async function filesToLoad(copy: CopyInto, target: WriteTarget, { context }: CopyServices): Promise<Found> {
  const { force, validation, purge, files: named } = copy.options;
  const stage = await openStage(copy.stage, 'stage.read', context);
  const purged = purge ? await openStage(copy.stage, 'stage.write', context) : null;
  const all = await findFiles(copy, stage, context);
  if (force || validation !== null || all.length === 0) return { stage, purged, files: all, skipped: [] };
  const asked = { branch: branchOf(target), stageId: stage.id, files: all };
  const loaded = new Set(await context.catalog.stages.loaded(context.caller.claims, target.name, asked));
  const files = all.filter(({ path }) => !loaded.has(path));
  const skipped = named === null ? [] : all.filter(({ path }) => loaded.has(path)).map(skippedFile);
  return { stage, purged, files, skipped };
}

const branchOf = ({ branch = MAIN_BRANCH }: WriteTarget): string => branch;

const skippedFile = ({ path }: StageFile): FileResult => ({
  file: path,
  status: 'LOAD_SKIPPED',
  parsed: 0,
  loaded: 0,
  errors: 0,
  first: { message: 'the file was loaded before', line: null },
});

function requireFewBytes(files: readonly StageFile[], position: number): void {
  const bytes = files.reduce((sum, { path }) => sum + Buffer.byteLength(path) + FILE_BYTES, 0);
  if (bytes <= PATHS_BYTES_MAX) return;
  throw new SkeinError(
    'STATEMENT_TOO_COMPLEX',
    `${files.length} files are too many for one COPY INTO: name fewer of them`,
    {
      position,
    },
  );
}

type Loading = {
  readonly copy: CopyInto<AsProven>;
  readonly target: WriteTarget;
  readonly found: Found;
  readonly source: CopySource;
};

async function load(
  { copy, target, found, source }: Loading,
  services: CopyServices,
): Promise<Outcome & { readonly loads: readonly FileLoad[] }> {
  const { options, columns: listed, rest, select } = copy;
  const { fields } = target.schema;
  const texts = { rest, select, columns: source.columns };
  const planned = await services.queries.planLoad({
    query: rest,
    strict: strictText(texts, source.strict),
    rules: { what: options.validation === null ? 'load' : 'check', onError: options.onError },
    table: source.table,
  });
  const into = listed === null ? ({ kind: 'position' } as const) : ({ kind: 'list', names: listed } as const);
  const assignments = assignColumns({ fields, target: into, columns: planned.columns, position: rest.offset });
  const text = guardedText(texts, source.guarded, assignments);
  const rows = await planned.guarded({ text, columns: guardedColumns(assignments) });
  await using write = await services.begin(target);
  const { files, loads, bytesScanned, fragments } = await write.run(rows, { assignments });
  await write.end(files.length === 0 ? null : appendFiles(files), {
    files,
    loaded: {
      stageId: found.stage.id,
      branch: branchOf(target),
      again: options.force,
      files: loadedFiles(found.files, copyResults(found.files, loads, found.stage.location)),
    },
  });
  return { rowsProduced: rowsOf(files), bytesScanned, fragments, loads };
}

/** The files of which rows were loaded; or those that were loaded whole. */
function loadedFiles(
  files: readonly StageFile[],
  results: readonly FileResult[],
  only?: FileResult['status'],
): readonly StageFile[] {
  const wanted = only === undefined ? ['LOADED', 'PARTIALLY_LOADED'] : [only];
  const loaded = new Set(results.flatMap(({ file, status }) => (wanted.includes(status) ? [file] : [])));
  return files.filter(({ path }) => loaded.has(path));
}

/** The query that a statement becomes, the files, the table and the commit. */
export async function explainCopy(
  written: CopyInto,
  options: ExplainOptions,
  services: CopyServices,
): Promise<readonly string[]> {
  const copy = await proveCopy(written, services);
  const target = await services.target(copy.table);
  requireColumns(copy, target);
  const found = await filesToLoad(copy, target, services);
  const { files } = found;
  const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const isEmpty = files.length === 0;
  const source = isEmpty ? null : await copySource(copy, target, found, services.context);
  const { rest, select } = copy;
  const plan =
    source === null
      ? null
      : await services.queries.explain(
          rest,
          options,
          strictText({ rest, select, columns: source.columns }, source.strict),
        );
  const commit = { operation: 'append', mode: 'append, with the names of the files' };
  if (options.format === 'json') {
    const document = plan === null ? {} : (parseJson(plan.join('\n')) as JsonObject);
    return [printJson({ ...document, files: { count: files.length, bytes }, sink: targetJson(target), commit }, 2)];
  }
  return [
    ...(plan ?? ['No file is read.']),
    '',
    `Files: ${files.length}, ${bytes} bytes`,
    `Sink: ${printTarget(target)}`,
    `Commit: ${commit.operation} (${commit.mode})`,
  ];
}
