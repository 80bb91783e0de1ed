import type { LoadRules } from '#shared/task/load-rules.ts';
import type { ScanSpec, TaskSpec, WriteSink } from '#shared/task/task.ts';
import type { Json } from '#shared/json.ts';
import { must, unreachable } from '#shared/must.ts';
import { loadFiles, type LoadTask } from '../load/load-files.ts';
import type { ReadFooter } from '../scan/footer.ts';
import { printSql } from './prepare-sql.ts';
import type { RangeFiles } from '../staged/range-files.ts';
import type { HeldObjects } from '../objects/held-objects.ts';
import type { OpenScanned } from '../scan/readable-path.ts';
import type { TaskRun } from './task-run.ts';
import { writeStage } from './write-stage.ts';
import { readChunkTexts, writeTable, type WriteTools, type WrittenTable } from '../write/write-table.ts';

/** `operators`: DuckDB's operators of the last COPY, with the rows of each, for a task that loads files. */
type LoadTools = WriteTools & { readonly operators: () => Json };

/** The parts of its task that the writing of files needs; `readFooter` gives the reader of the footers of a scan's files. */
type Writing = {
  readonly spec: TaskSpec;
  readonly within: LoadTools;
  readonly readFooter: (scan: ScanSpec, open: OpenScanned) => ReadFooter;
  readonly ranges: RangeFiles;
  readonly objects: HeldObjects;
};

type WrittenFiles = { readonly rows: number; readonly bytes: number; readonly written: TaskRun['written'] };

/** The rules of a task that loads files of a stage into a table. */
export const loadRules = ({ output }: TaskSpec): LoadRules | undefined =>
  output.kind === 'table' ? output.sink.load : undefined;

/**
 * Whether a task writes rows in their order into several files: DuckDB, which otherwise keeps the order, lets its threads write such files
 * together, a block of rows each.
 */
export const keepsOrderOfFiles = ({ output }: TaskSpec): boolean =>
  'sink' in output && output.sink.keepsOrder && output.sink.fileBytes !== null;

/** Writes the rows of a task's text into files where `to` says. @throws as `writeTable`, `writeStage` and `loadFiles` */
export async function writeFiles(sql: string, to: WriteSink, writing: Writing): Promise<WrittenFiles> {
  const { within } = writing;
  switch (to.kind) {
    case 'table': {
      const { load } = to.sink;
      const write = (text: string): Promise<WrittenTable> => writeTable(text, to.sink, within);
      const { files, replaced, loads } =
        load === undefined
          ? { ...(await write(sql)), loads: [] }
          : await loadFiles({ ...loadTools(writing, load), ...statements(within), write });
      const rows = files.reduce((sum, file) => sum + file.recordCount, 0);
      const bytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
      return {
        rows,
        bytes,
        written: { files, ...(replaced.length === 0 ? {} : { replaced }), ...(loads.length === 0 ? {} : { loads }) },
      };
    }
    case 'stage': {
      const unloaded = await writeStage(sql, to.sink, within);
      const bytes = unloaded.files.reduce((sum, file) => sum + file.sizeBytes, 0);
      return { rows: unloaded.rows, bytes, written: { files: [], unloaded } };
    }
    default:
      return unreachable(to);
  }
}

/** The parts of its task that the load of files needs. */
function loadTools({ spec, within, readFooter, ranges, objects }: Writing, rules: LoadRules) {
  const [first] = spec.scans;
  const scan = must(first, 'a load has one scan');
  const staging = { ...scan, staged: must(scan.staged, 'its files are those of a stage') };
  const open: OpenScanned = (location) => objects.open(location, staging);
  return {
    rules,
    scan: staging,
    open,
    signal: within.signal,
    readFooter: readFooter(staging, open),
    ranges,
    strict: (from: string) => printSql(spec.sql, [from], []),
    guarded: (from: string) => printSql(rules.guarded, [from], []),
  };
}

const statements = ({ connection, run, operators }: LoadTools): Pick<LoadTask, 'operators' | 'run' | 'texts'> => ({
  operators,
  run: (sql) => connection.run(sql),
  texts: async (sql) => {
    const texts: string[] = [];
    await run(sql, 'query', (chunk) => void texts.push(...readChunkTexts(chunk)));
    return texts;
  },
});
