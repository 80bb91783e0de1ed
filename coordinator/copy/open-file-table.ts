import { createHash, randomUUID } from 'node:crypto';
import { OF_DOCUMENT } from '#shared/task/json-document.ts';
import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import type { ScanSpec, StagedSource } from '#shared/task/task.ts';
import { SkeinError } from '#shared/error.ts';
import type { FileFormat } from '#shared/stage/file-format.ts';
import { must } from '#shared/must.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import type { Stage } from '../catalog-client/stage-catalog.ts';
import type { CommandContext } from '../operation/command-context.ts';
import { takeStage } from '../command/stage/take-stage.ts';
import type { SqlField } from '../plan/sql-type.ts';
import { BoundedValues } from '../operation/bounded-values.ts';
import { NO_POLICIES } from '../binding/table-policies.ts';
import { openStage } from '../stage/open-stage.ts';
import { listStageFiles, type StageFile } from '../stage/stage-files.ts';
import type { StageReference } from '../stage/stage-reference.ts';
import { wholeText } from '../statement/derived-text.ts';
import { StatementReader } from '../statement/statement-reader.ts';
import type { TextSpan } from '../statement/statement.ts';
import { fileFormatOf } from '../stage/file-format-options.ts';
import { sourceColumn, type FileColumn } from './json-column.ts';
import {
  areColumnNames,
  hasColumnNames,
  isObjectStructure,
  parseStructure,
  type MemberStructures,
  type Structure,
} from './json-structure.ts';
import { matchPattern } from './match-pattern.ts';
import type { KeptRows } from '../binding/kept-rows.ts';
import { OptionReader } from '../stage/option-reader.ts';
import type { FileTable } from '../binding/file-table.ts';
import { takeBracketedOptions } from '../stage/take-options.ts';

/** Most files of one reference: each takes its place in the tasks that read it. */
const FILES_MAX = 100_000;
/** Bytes of a row of a file, for estimates. */
const ROW_BYTES = 64;

const VARCHAR = { kind: 'scalar', name: 'VARCHAR' } as const;

/** Whether a text that is read like a table is a stage: `@stage/path`, or the same in quotes. */
export const isStageText = ({ text }: TextSpan): boolean => /^'?@/.test(text);

/**
 * The files of `@stage/path (FILE_FORMAT => ..., PATTERN => '...')`. The columns are those of the first file: a task on a worker reads them.
 * @throws STAGE_NOT_FOUND, STAGE_FILE_NOT_FOUND, SYNTAX_ERROR; each with the position; what the task throws
 */
export async function openFileTable(text: TextSpan, context: CommandContext, kept: KeptRows): Promise<FileTable> {
  const reader = new StatementReader(text);
  const reference = takeStage(reader);
  const options = new OptionReader(reader.atEnd() ? [] : takeBracketedOptions(reader), 'a stage in FROM');
  reader.end();
  const format = fileFormatOf(options.options('FILE_FORMAT') ?? []);
  const pattern = options.pattern('PATTERN');
  options.end();
  const stage = await openStage(reference, 'stage.read', context);
  const listed = await listFiles(stage, reference, context.signal);
  const files = pattern === undefined ? listed : await matchPattern(listed, pattern, context.queries, kept);
  if (files.length === 0) {
    throw new SkeinError(
      'STAGE_FILE_NOT_FOUND',
      `no file of the stage is at this path${pattern === undefined ? '' : ' and matches PATTERN'}`,
      { position: text.offset },
    );
  }
  const title = text.text;
  const columns = await fileColumns({ title, stage, files, format }, context, kept);
  const source: StagedSource = {
    format,
    what: 'rows',
    columns: columns.map((column) => sourceColumn(column, format)),
  };
  return fileTableOf({ title, stage, files, columns }, source);
}

/** The file of a path in a stage, or those of the folder. @throws STATEMENT_TOO_COMPLEX */
export async function listFiles(
  stage: Stage,
  { path, position }: Pick<StageReference, 'path' | 'position'>,
  signal: AbortSignal,
): Promise<readonly StageFile[]> {
  const listed: StageFile[] = [];
  for await (const page of listStageFiles(stage, path)) {
    signal.throwIfAborted();
    listed.push(...page);
    if (listed.length > FILES_MAX) throw tooMany(position);
  }
  return listed;
}

type Staged = {
  readonly title: string;
  readonly stage: Stage;
  readonly files: readonly StageFile[];
};

/** Files of a stage as a table of these columns. */
export function fileTableOf(
  { title, stage, files, columns }: Staged & { readonly columns: readonly SqlField[] },
  staged: StagedSource,
): FileTable {
  const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const rowCount = staged.what === 'columns' ? columns.length : Math.ceil(bytes / ROW_BYTES);
  const spec: ScanSpec = {
    tableName: title,
    // Footers are kept under it: another state of the files has another one.
    tableUuid: createHash('sha256')
      .update(JSON.stringify([stage.id, files.map(({ path, etag }) => [path, etag])]))
      .digest('hex'),
    snapshotId: null,
    schemaId: 0,
    columns: scanColumns(columns),
    files: files.map((file) => scanFile(stage, file)),
    nameMapping: null,
    predicate: { kind: 'true' },
    allowedRoots: [stage.location],
    credential: must(stage.credential, 'it was opened'),
    staged,
  };
  return { title, columns, spec, rowCount, bytes };
}

/** Columns of a stage's files as a scan has them. */
export const scanColumns = (columns: readonly Pick<SqlField, 'name'>[]): ScanSpec['columns'] =>
  columns.map(({ name }, i) => ({ fieldId: i + 1, name, type: null, required: false, initialDefault: null }));

const scanFile = ({ location }: Stage, { path, sizeBytes, etag }: StageFile): ScanFile => ({
  path: `${location}/${path}`,
  recordCount: 0,
  sizeBytes,
  rows: null,
  constants: {},
  deletes: [],
  firstRowId: null,
  etag,
});

/** The columns of the first file. @param isLoad members of JSON that a query cannot name are no error @throws NOT_SUPPORTED, the task's errors */
export async function fileColumns(
  { format, isLoad = false, ...staged }: Staged & { readonly format: FileFormat; readonly isLoad?: boolean },
  { queries }: Pick<CommandContext, 'queries'>,
  kept: KeptRows,
): Promise<readonly FileColumn[]> {
  const name = `@columns/${randomUUID()}`;
  const fields = ['name', 'type'].map((field) => ({ name: field, type: VARCHAR }));
  const source: StagedSource = {
    format,
    what: 'columns',
    columns: fields.map((field) => ({ name: field.name, type: 'VARCHAR' })),
  };
  const table = fileTableOf({ ...staged, files: staged.files.slice(0, 1), columns: fields }, source);
  kept.keep(name, { kind: 'staged', table, policies: NO_POLICIES });
  const query = { text: `SELECT CAST(json_array("name", "type") AS VARCHAR) FROM ${name}`, offset: 0 };
  const rows = new BoundedValues();
  await queries.texts(query, wholeText(query), rows);
  const found = rows.values.map((row) => JSON.parse(row) as readonly string[]);
  if (format.kind === 'csv') {
    const isNamed = format.header.kind === 'names';
    return found.map(([given = ''], i) => ({
      name: isNamed ? given : `$${i + 1}`,
      type: VARCHAR,
      read: 'VARCHAR',
      isDocument: false,
    }));
  }
  const members = found.filter(([given]) => given !== OF_DOCUMENT);
  const printed = found.find(([given]) => given === OF_DOCUMENT)?.[1];
  const document = printed === undefined ? undefined : parseStructure(printed);
  const isDocument = document !== undefined && !isObjectStructure(document);
  const named = isObjectStructure(document) ? withOwnNames(members, document, isLoad) : members;
  const types = named.map(([given = '', type = '']) =>
    document === undefined
      ? parquetType(given, type)
      : jsonType(type, isObjectStructure(document) ? document[given] : document),
  );
  const list = named.map(([given = ''], i) => `CAST(NULL AS ${types[i]}) AS ${quoteIdentifier(given)}`);
  const typed = await queries.columns({ text: `SELECT ${list.join(', ')}`, offset: 0 });
  return typed.map(({ name: given, type }, i) => ({ name: given, type, read: types[i] ?? '', isDocument }));
}

/** Characters of the type of a column of JSON: an object with more members is read as JSON. */
const TYPE_TEXT_MAX = 64 * 1024;
/**
 * Structs with a member that has no name, which DuckDB prints without the names of all, and so as no type: behind the bracket stands a type
 * alone, where a named member has a space and its type behind its name.
 */
const UNNAMED = /STRUCT\((?:(?:[A-Z_0-9]+|TIME(?:STAMP)? WITH TIME ZONE)(?:\[\d*\])*[,)]|(?:STRUCT|MAP|DECIMAL)\()/;

/** @throws NOT_SUPPORTED for a type that cannot be written */
function parquetType(name: string, type: string): string {
  if (!UNNAMED.test(type.replaceAll(/"(?:[^"]|"")*"/g, 'quoted'))) return type;
  throw new SkeinError('NOT_SUPPORTED', `the column ${name} has a struct with a member without a name`);
}

/** The type as which a column of JSON is read. */
const jsonType = (type: string, structure: Structure | undefined): string =>
  type.length > TYPE_TEXT_MAX || !hasColumnNames(structure) ? 'JSON' : type;

type Member = readonly string[];

/**
 * The members of documents under the names that they have there. DuckDB gives others to members that differ in case only (`a_1`), and to one
 * without a name: a query would not find them, and a load reads the table's types. @throws NOT_SUPPORTED for a query
 */
function withOwnNames(members: readonly Member[], document: MemberStructures, isLoad: boolean): readonly Member[] {
  if (areColumnNames(Object.keys(document))) return members;
  if (!isLoad) {
    const message =
      'a document has members without a name, or whose names differ in case only: COPY INTO reads those of a table';
    throw new SkeinError('NOT_SUPPORTED', message);
  }
  const own = members.filter(([name = '']) => Object.hasOwn(document, name));
  const names = new Set(own.map(([name]) => name));
  const others = Object.keys(document).filter((name) => name !== '' && !names.has(name));
  return [...own, ...others.map((name) => [name, 'JSON'])];
}

const tooMany = (position: number): SkeinError =>
  new SkeinError('STATEMENT_TOO_COMPLEX', `a statement reads at most ${FILES_MAX} files of a stage`, { position });
