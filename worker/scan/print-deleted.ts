import type { ScanDelete, ScanFile } from '#shared/iceberg/scan-file.ts';
import { SkeinError } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { must } from '#shared/must.ts';
import { quoteLiteral } from '#shared/sql/quote.ts';
import { readParquet } from '#shared/sql/read-parquet.ts';
import { spellings } from '#shared/storage/location.ts';
import type { DeletedPositions } from './deleted-positions.ts';
import type { Footer, ReadFooter } from './footer.ts';
import { baseName, VIRTUAL_COLUMNS } from './plan-file.ts';
import type { LocatedFile } from './print-address.ts';
import { readDeletionVector } from './read-vector.ts';
import { readablePath, type OpenScanned } from './readable-path.ts';

type Tools = {
  readonly open: OpenScanned;
  readonly readFooter: ReadFooter;
  readonly positions: DeletedPositions;
  /** The SQL of false in calls of table functions. */
  readonly no?: string;
};

type PositionFile = Extract<ScanDelete, { kind: 'position' }>;
/** Rows of deleted positions: what stands behind FROM, and the expressions of a row's position and of the path by which DuckDB reads its file. */
type Source = { readonly from: string; readonly pos: string; readonly local: string };

/** Whether rows of a file are deleted by their positions, which a delete file or a vector holds. */
export const hasDeletedPositions = (file: ScanFile): boolean => file.deletes.some(({ kind }) => kind !== 'equality');

/**
 * Prints the anti join with the deleted positions of all files of a branch; '' when they have none. It is one join, however many delete
 * files and vectors there are: below the build side of a join each branch of a UNION ALL costs DuckDB 4 MiB and more, and a table that is
 * changed often has a delete file for nearly every data file.
 */
export async function deletedRowsJoin(files: readonly LocatedFile[], tools: Tools): Promise<string> {
  const sources = [await positionSource(files, tools), await vectorSource(files, tools)].filter(
    (one) => one !== undefined,
  );
  if (sources.length === 0) return '';
  // Positions of one file are those of the branch: its path need not be compared for each row.
  const isOne = files.length === 1;
  const selects = sources.map(
    ({ from, pos, local }) => `SELECT ${isOne ? '' : `${local} AS local, `}${pos} AS pos FROM ${from}`,
  );
  const condition = `p.pos = f.file_row_number${isOne ? '' : ' AND p.local = f.filename'}`;
  return ` ANTI JOIN (${selects.join(' UNION ALL ')}) AS p ON ${condition}`;
}

/**
 * The rows of position delete files. They name data files by the path text that their writer used; `v` maps that text to our paths. A delete
 * file holds for those data files alone whose scan names it (Iceberg spec, Scan Planning: not for younger ones), which are a part of `v`.
 */
async function positionSource(files: readonly LocatedFile[], tools: Tools): Promise<Source | undefined> {
  const parts = Map.groupBy(
    files.filter(({ file }) => positionFiles(file).length > 0),
    ({ file }) =>
      JSON.stringify(
        positionFiles(file)
          .map(({ path }) => path)
          .sort(),
      ),
  );
  if (parts.size === 0) return undefined;
  const known: string[] = [];
  const naming: string[] = [];
  const deletes = new Map<string, PositionFile>();
  for (const [part, members] of [...parts.values()].entries()) {
    for (const { file, local } of members) {
      for (const spelling of spellings(file.path))
        known.push(`(${quoteLiteral(spelling)}, ${quoteLiteral(local)}, ${part})`);
    }
    for (const one of positionFiles(must(members[0], 'a part has a file').file)) {
      deletes.set(one.path, one);
      naming.push(`(${quoteLiteral(readablePath(tools.open, one.path))}, ${part})`);
    }
  }
  // The footer of every file is checked here before DuckDB opens the file.
  for (const one of deletes.values()) requireFilename(one, await tools.readFooter(one), parts.size);
  const paths = [...deletes.keys()].map((path) => readablePath(tools.open, path));
  const from = `${readParquet(paths, '', tools.no)} AS d JOIN (VALUES ${known.join(', ')}) AS v(spelling, local, part) ON d.file_path = v.spelling`;
  const ofPart = ` JOIN (VALUES ${naming.join(', ')}) AS n(delete_file, part) ON n.delete_file = d.filename AND n.part = v.part`;
  return { from: `${from}${parts.size === 1 ? '' : ofPart}`, pos: 'd.pos', local: 'v.local' };
}

const positionFiles = ({ deletes }: ScanFile): readonly PositionFile[] =>
  deletes.filter((one) => one.kind === 'position');

/** @throws NOT_SUPPORTED when the rows of the delete file would not say which file they are of */
function requireFilename({ path }: PositionFile, { fields }: Footer, parts: number): void {
  if (parts === 1 || !fields.some(({ name }) => VIRTUAL_COLUMNS.has(foldIdentifier(name)))) return;
  throw new SkeinError(
    'NOT_SUPPORTED',
    `the position deletes of ${baseName(path)} have a column with a reserved name (filename, file_row_number)`,
  );
}

/** The rows of deletion vectors. A file that is written anew has a vector of the table, and another one of the rows that go. */
async function vectorSource(files: readonly LocatedFile[], { open, positions }: Tools): Promise<Source | undefined> {
  const keys: string[] = [];
  for (const { file, local } of files) {
    for (const vector of file.deletes) {
      if (vector.kind !== 'vector') continue;
      const key = positions.add(await readDeletionVector(open(vector.path), vector, positions));
      keys.push(`(${key}, ${quoteLiteral(local)})`);
    }
  }
  if (keys.length === 0) return undefined;
  return {
    from: `${positions.table} AS q JOIN (VALUES ${keys.join(', ')}) AS w(file, local) ON w.file = q.file`,
    pos: 'q.pos',
    local: 'w.local',
  };
}
