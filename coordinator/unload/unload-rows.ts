import { randomUUID } from 'node:crypto';
import { SkeinError, type ErrorCode } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { isUnknown } from '#shared/iceberg/write/commit-writes.ts';
import type { UnloadedRows } from '#shared/task/task.ts';
import type { Stage } from '../catalog-client/stage-catalog.ts';
import type { CommandContext } from '../operation/command-context.ts';
import type { SqlField } from '../plan/sql-type.ts';
import { openStage } from '../stage/open-stage.ts';
import { fileExists, listStageFiles } from '../stage/stage-files.ts';
import { principalOf } from '#shared/authorization/principal.ts';
import { endLater, type EndingStatement } from '../write/write-journal.ts';
import { unloadColumns, unloadError } from './unload-columns.ts';
import type { UnloadName } from './unload-intents.ts';
import type { OpenUnload, UnloadJournal } from './unload-journal.ts';
import { unloadNames, type UnloadNames } from './unload-names.ts';
import type { Unload, Unloaded } from '../operation/unload.ts';

export type UnloadServices = {
  readonly journal: Pick<UnloadJournal, 'begin'>;
  readonly statement: EndingStatement & { readonly recordId: string };
};

/** Files of one unload. */
const FILES_MAX = 10_000;

/**
 * Writes the rows of a query as files of a stage:
 * ```
 * stage ─▶ intent ─▶ query, whose last stage writes files beside the stage's ─▶ all files get their names
 * ```
 * A statement that fails leaves none.
 */
export async function unloadRows(
  unload: Unload,
  context: CommandContext,
  { journal, statement }: UnloadServices,
): Promise<Unloaded> {
  const { format, overwrite, fileBytes, query } = unload;
  const { position } = unload.stage;
  const names = unloadNames(unload);
  const stage = await openStage(unload.stage, 'stage.write', context);
  const mark = `skein-${randomUUID()}`;
  let columns: readonly SqlField[] = [];
  let open: OpenUnload | undefined;
  try {
    if (!overwrite) await requireNone(stage, names, context.signal);
    const rows = await context.queries.planUnload(query);
    ({ columns } = rows);
    const { sql, enclosed } = unloadColumns(columns, format, { mark, position: query.offset });
    const principal = principalOf(context.caller.claims);
    open = await journal.begin(principal, { stage, path: unload.stage.path, recordId: statement.recordId });
    const { folder } = open;
    const rowGroupRows = context.config['load.row_group_rows'];
    const place = { folder, allowedRoots: [stage.location], credential: must(stage.credential, 'it was opened') };
    const sink = { ...place, format, enclosed, rowGroupRows, fileBytes, keepsOrder: rows.isOrdered };
    const { tasks, bytesScanned, fragments } = await rows.into({ sink, sql, inOneTask: fileBytes === null });
    const named = nameFiles(tasks, names, open);
    if (named.length === 0) await open.discard();
    else await open.place(named, { overwrite, begin: context.beginCommit });
    const files = tasks.flatMap((task) => task.files);
    return {
      rows: sum(tasks, ({ rows }) => rows),
      plainBytes: sum(files, ({ plainBytes }) => plainBytes),
      bytes: sum(files, ({ sizeBytes }) => sizeBytes),
      bytesScanned,
      fragments,
    };
  } catch (error) {
    if (!isUnknown(error)) await open?.discard();
    else if (open !== undefined) endLater(statement, open);
    throw atStage(unloadError(error, columns, mark), position);
  }
}

/** Refuses files that an unload like this one has left. @throws ALREADY_EXISTS */
async function requireNone(stage: Stage, { folder, mayBe }: UnloadNames, signal: AbortSignal): Promise<void> {
  for await (const files of listStageFiles(stage, folder)) {
    signal.throwIfAborted();
    const found = files.find(({ path }) => mayBe(path));
    if (found !== undefined) throw fileExists(found.path);
  }
}

/** @throws STATEMENT_TOO_COMPLEX */
function nameFiles(
  tasks: readonly UnloadedRows[],
  names: UnloadNames,
  { folder }: Pick<OpenUnload, 'folder'>,
): readonly UnloadName[] {
  const named = tasks.flatMap(({ files }, task) =>
    files.map(({ path }, number) => ({ file: path.slice(folder.length + 1), path: names.path(task, number) })),
  );
  if (named.length <= FILES_MAX) return named;
  throw new SkeinError(
    'STATEMENT_TOO_COMPLEX',
    `the rows take ${named.length} files: MAX_FILE_SIZE allows at most ${FILES_MAX}`,
  );
}

const sum = <T>(list: readonly T[], of: (one: T) => number): number => list.reduce((total, one) => total + of(one), 0);

/** Errors of the place of the files, which the statement names by its stage. */
const OF_PLACE: ReadonlySet<ErrorCode> = new Set([
  'ALREADY_EXISTS',
  'INVALID_REQUEST',
  'UPLOAD_NOT_FOUND',
  'STAGE_NOT_FOUND',
]);

function atStage(thrown: unknown, position: number): unknown {
  const error = SkeinError.of(thrown);
  if (!OF_PLACE.has(error.code) || error.position !== undefined) return thrown;
  return error.at(position);
}
