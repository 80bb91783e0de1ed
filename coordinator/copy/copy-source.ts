import { randomUUID } from 'node:crypto';
import { GUARDED_COLUMNS } from '#shared/task/load-rules.ts';
import { type StagedSource } from '#shared/task/task.ts';
import { SkeinError } from '#shared/error.ts';
import type { Field } from '#shared/iceberg/type.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { Stage } from '../catalog-client/stage-catalog.ts';
import type { CommandContext } from '../operation/command-context.ts';
import type { WriteTarget } from '../operation/writes.ts';
import { printSqlType } from '../plan/sql-type.ts';
import { icebergSqlType } from '../plan/iceberg-sql-type.ts';
import { NO_POLICIES } from '../binding/table-policies.ts';
import { requireStageFile, type StageFile } from '../stage/stage-files.ts';
import { printStage } from '../stage/stage-reference.ts';
import { requireReadable } from '../write/assign-columns.ts';
import { missingColumn } from '../write/missing-column.ts';
import type { CopyInto } from '../operation/copy-into.ts';
import { sourceColumn, spelledAs, type FileColumn } from './json-column.ts';
import { matchPattern } from './match-pattern.ts';
import { fileColumns, listFiles, fileTableOf } from './open-file-table.ts';
import type { FileTable } from '../binding/file-table.ts';

/** Files that are looked for at once. */
const FILES_AT_ONCE = 16;

/** The files of a stage that a statement names, sorted. @throws STAGE_FILE_NOT_FOUND for one in FILES */
export async function findFiles(
  { stage: reference, options }: CopyInto,
  stage: Stage,
  { queries, signal }: CommandContext,
): Promise<readonly StageFile[]> {
  const { files: named, pattern } = options;
  const listed =
    named === null ? await listFiles(stage, reference, signal) : await findNamed(named, reference.path, stage);
  const found = new Map(listed.map((file) => [file.path, file]));
  const files = [...found.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return pattern === null || files.length === 0 ? files : matchPattern(files, pattern, queries, queries.kept);
}

async function findNamed(
  named: NonNullable<CopyInto['options']['files']>,
  folder: string,
  stage: Stage,
): Promise<readonly StageFile[]> {
  const found: StageFile[] = [];
  const rest = named.values();
  const findRest = async (): Promise<void> => {
    for (const { path, position } of rest) {
      const file = await requireStageFile(stage, folder === '' ? path : `${folder}/${path}`).catch(
        (thrown: unknown) => {
          const { code, message, entry } = SkeinError.of(thrown);
          throw entry.kind === 'user' ? new SkeinError(code, message, { position, cause: thrown }) : thrown;
        },
      );
      found.push(file);
    }
  };
  await Promise.all(Array.from({ length: FILES_AT_ONCE }, findRest));
  return found;
}

/** Files as the texts of a load read them: by this name, with `GUARDED_COLUMNS` or without. */
export type CopySource = {
  readonly table: FileTable;
  readonly strict: string;
  readonly guarded: string;
  /** The columns of the files, in the order of those that they fill; without a SELECT. */
  readonly columns: readonly string[];
};

/** Finds the columns of the files, and gives the files names. @throws TYPE_MISMATCH, COLUMN_NOT_FOUND */
export async function copySource(
  copy: CopyInto,
  target: WriteTarget,
  { stage, files }: { readonly stage: Stage; readonly files: readonly StageFile[] },
  { queries }: Pick<CommandContext, 'queries'>,
): Promise<CopySource> {
  const { options, select } = copy;
  const { format, match } = options;
  const staged = { title: printStage(copy.stage), stage, files, format };
  const needsColumns = select !== null || format.kind !== 'csv';
  const given = needsColumns
    ? await fileColumns({ ...staged, isLoad: select === null }, { queries }, queries.kept).catch(leftToTasks(copy))
    : [];
  const columns: readonly FileColumn[] = select === null ? filledColumns(copy, target, given) : given;
  const source: StagedSource = {
    format,
    what: 'rows',
    columns: columns.map((column) => sourceColumn(column, format)),
    matchesCase: match === 'exact name',
    byName: match !== 'position',
  };
  const table = fileTableOf({ ...staged, columns }, source);
  const more = Object.values(GUARDED_COLUMNS).map((name, i) => ({ name, type: i === 0 ? BIGINT : VARCHAR }));
  const keep = (one: FileTable): string => {
    const name = `@copy/${randomUUID()}`;
    queries.kept.keep(name, { kind: 'staged', table: one, policies: NO_POLICIES });
    return name;
  };
  const guarded = keep({ ...table, columns: [...columns, ...more] });
  return { table, strict: keep(table), guarded, columns: columns.map(({ name }) => name) };
}

const BIGINT = { kind: 'scalar', name: 'BIGINT' } as const;
const VARCHAR = { kind: 'scalar', name: 'VARCHAR' } as const;

/** Leaves the errors of a file's data to the task that loads it, which names the record. */
const leftToTasks =
  ({ select, options }: CopyInto) =>
  (error: unknown): readonly FileColumn[] => {
    const { code, entry } = SkeinError.of(error);
    // JSON needs the names' spelling alone, and DuckDB finds no type for some documents.
    const isOfFile = code === 'INVALID_INPUT_FILE' || (options.format.kind === 'json' && entry.kind === 'user');
    if (select === null && isOfFile) return [];
    throw error;
  };

/**
 * The columns of the table that the statement fills, as columns of the files. JSON is read by the table's types alone: those of the first
 * documents tell nothing of the others, in which `[]`, `{}` and `null` may be anything.
 */
function filledColumns(copy: CopyInto, { schema }: WriteTarget, given: readonly FileColumn[]): readonly FileColumn[] {
  const { format, match } = copy.options;
  const isExact = match === 'exact name';
  const key = isExact ? (name: string): string => name : foldIdentifier;
  const byName = new Map(given.map((column) => [key(column.name), column]));
  return filledFields(copy, schema.fields).map((field) => {
    const type = icebergSqlType(field.type);
    const found = given.find(({ name }) => name === field.name) ?? byName.get(key(field.name));
    const column = { name: field.name, type, read: printSqlType(type), isDocument: false };
    if (format.kind === 'json') {
      const inFile = isExact ? type : spelledAs(type, found?.type);
      return { ...column, name: found?.name ?? field.name, inFile };
    }
    if (found !== undefined) requireReadable(field, found.type, copy.stage.position);
    return column;
  });
}

function filledFields({ columns }: CopyInto, fields: readonly Field[]): readonly Field[] {
  return (
    columns?.map(({ name, position }) => {
      const found = fields.find((field) => foldIdentifier(field.name) === foldIdentifier(name));
      if (found === undefined) throw missingColumn(fields, name, position);
      return found;
    }) ?? fields
  );
}

/** Checks the names of the columns, and that a SELECT has an expression for each. @throws COLUMN_NOT_FOUND, SYNTAX_ERROR */
export function requireColumns(copy: CopyInto, { schema }: WriteTarget): void {
  const wanted = filledFields(copy, schema.fields).length;
  const given = copy.select?.expressions.length ?? wanted;
  if (given === wanted) return;
  const message = `the SELECT of COPY INTO has ${given} expressions, and the table gets ${wanted} columns`;
  throw new SkeinError('SYNTAX_ERROR', message, { position: copy.select?.expressions[0]?.offset });
}
