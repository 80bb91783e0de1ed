import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import type { PlannedRows } from '../operation/planned-rows.ts';
import type { PlannedLoad, Queries } from '../operation/queries.ts';
import { dividedLoad } from '../copy/divide-load.ts';
import { requireRecords, stagedScan } from '../copy/load-parts.ts';
import type { StageLoad } from '../operation/stage-load.ts';
import { clusterCores } from '../distributor/estimate/cluster-cores.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import { clusterFacts } from '../scheduler/scheduler.ts';
import { wholeText, type DerivedText } from '../statement/derived-text.ts';
import type { TextSpan } from '../statement/statement.ts';
import { executeParts, onlyTable, scanOfPart, type PartsExecution } from './execute-parts.ts';
import { hasOrder } from './has-order.ts';
import type { RunningStatement } from './running-statement.ts';
import { typedColumns } from './typed-columns.ts';

/** The statement whose query runs once for each part of its files, and how it plans its texts. */
export type PartsOf = RunningStatement &
  Pick<PartsExecution, 'source' | 'shape' | 'context'> & {
    readonly plan: (query: TextSpan, text: DerivedText) => Promise<PreparedQuery>;
  };

type Rewrite = {
  readonly query: TextSpan;
  readonly parts: readonly (readonly ScanFile[])[];
};

/** As `Queries.planRewrite`. Each part is one task of one core, so its rows keep their order. */
export async function planRewrite({ query, parts }: Rewrite, of: PartsOf): Promise<PlannedRows> {
  const planned = await of.plan(query, wholeText(query));
  const table = onlyTable(planned.scans, query);
  return {
    columns: typedColumns(planned),
    isOrdered: hasOrder(planned.plan),
    into: ({ sink, sql }) =>
      executeParts({
        ...of,
        query: planned,
        scanOf: (files) => scanOfPart(table, files),
        parts,
        width: 1,
        destination: { kind: 'files', sql, sink: { kind: 'table', sink } },
      }),
  };
}

type Load = {
  readonly load: StageLoad;
  readonly queries: Pick<Queries, 'texts' | 'kept'>;
};

/** As `Queries.planLoad`. Where there are fewer parts than cores, each is read by all cores of its worker. */
export async function planLoad({ load, queries }: Load, of: PartsOf): Promise<PlannedLoad> {
  const query = await of.plan(load.query, load.strict);
  requireRecords(query, load.query);
  const columns = typedColumns(query);
  return {
    columns,
    guarded: async (guard) => {
      const { workerSql: guarded } = await of.plan(load.query, guard.text);
      const rules = { ...load.rules, guarded, columns: guard.columns };
      return {
        columns,
        isOrdered: false,
        into: async ({ sink, sql }) => {
          const cluster = clusterFacts(of.services.scheduler);
          const parts = await dividedLoad(load, cluster, queries);
          return executeParts({
            ...of,
            query,
            scanOf: (files) => stagedScan(load.table, files),
            parts,
            width: parts.length < clusterCores(cluster) ? 'worker' : 1,
            destination: { kind: 'files', sql, sink: { kind: 'table', sink: { ...sink, load: rules } } },
          });
        },
      };
    },
  };
}
