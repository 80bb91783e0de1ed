import { randomUUID } from 'node:crypto';
import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import type { StagedSource } from '#shared/task/task.ts';
import { must } from '#shared/must.ts';
import type { Queries } from '../operation/queries.ts';
import { clusterCores, oneHasEveryCore } from '../distributor/estimate/cluster-cores.ts';
import type { ClusterFacts } from '../distributor/fragment.ts';
import { BoundedValues } from '../operation/bounded-values.ts';
import { NO_POLICIES } from '../binding/table-policies.ts';
import { cutEvery, cutFile } from '../scheduler/cut-file.ts';
import { divisionOf } from '../scheduler/divide-staged.ts';
import { wholeText } from '../statement/derived-text.ts';
import { partBytes, loadParts } from './load-parts.ts';
import { scanColumns } from './open-file-table.ts';
import type { StageLoad } from '../operation/stage-load.ts';

/** Tasks for each worker, below which large files are divided: so few may leave one without work. */
const PARTS_PER_WORKER = 2;

type Parts = readonly (readonly ScanFile[])[];

/**
 * The files of each task of a load. A task of whole files uses all cores of its worker; only where there are more cores than those, and too
 * few files for all workers, are the large ones divided. `SKIP_FILE` judges a file as a whole.
 */
export async function dividedLoad(
  { table, rules }: Pick<StageLoad, 'table' | 'rules'>,
  cluster: ClusterFacts,
  queries: Pick<Queries, 'texts' | 'kept'>,
): Promise<Parts> {
  const { files, staged } = table.spec;
  const cores = clusterCores(cluster);
  const whole = loadParts(files, cores);
  const isEnough = oneHasEveryCore(cluster) || whole.length >= PARTS_PER_WORKER * cluster.workers.length;
  if (isEnough || rules.onError.kind === 'skip') return whole;
  const source = must(staged, 'the files are those of a stage');
  const step = Math.ceil(partBytes(files, cores));
  const isLarge = ({ sizeBytes }: ScanFile): boolean => sizeBytes >= 2 * step;
  const quoted = files.filter((file) => isLarge(file) && divisionOf(source, file) === 'at records');
  const starts = await recordStarts(quoted, { table, stepBytes: step }, queries);
  const ranges = files.flatMap((file): readonly ScanFile[] => {
    if (!isLarge(file)) return [file];
    switch (divisionOf(source, file)) {
      case 'anywhere':
        return cutEvery(file, step);
      case 'at records':
        return cutFile(file, starts.get(file.path) ?? []);
      case 'never':
        return [file];
    }
  });
  return loadParts(ranges, cores);
}

const VARCHAR = { kind: 'scalar', name: 'VARCHAR' } as const;
const SEPARATOR = '\u0001';

/** Where records of files of CSV begin, one for each `stepBytes`, by the files' paths: tasks read the files for it. */
async function recordStarts(
  files: readonly ScanFile[],
  { table, stepBytes }: { readonly table: StageLoad['table']; readonly stepBytes: number },
  queries: Pick<Queries, 'texts' | 'kept'>,
): Promise<ReadonlyMap<string, readonly number[]>> {
  if (files.length === 0) return new Map();
  const columns = ['path', 'start'].map((name) => ({ name, type: VARCHAR }));
  const staged: StagedSource = {
    ...must(table.spec.staged, 'the files are those of a stage'),
    what: 'record starts',
    stepBytes,
    columns: columns.map(({ name }) => ({ name, type: 'VARCHAR' })),
  };
  const name = `@records/${randomUUID()}`;
  const spec = { ...table.spec, files, columns: scanColumns(columns), staged };
  const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  queries.kept.keep(name, { kind: 'staged', table: { ...table, columns, spec, bytes }, policies: NO_POLICIES });
  const query = { text: `SELECT "path" || chr(1) || "start" FROM ${name}`, offset: 0 };
  const rows = new BoundedValues();
  await queries.texts(query, wholeText(query), rows);
  const found = rows.values.map((row) => row.split(SEPARATOR));
  const byPath = Map.groupBy(found, ([path = '']) => path);
  return new Map(
    Array.from(byPath, ([path, list]) => [path, list.map(([, start]) => Number(start)).toSorted((a, b) => a - b)]),
  );
}
