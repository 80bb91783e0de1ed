import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import { SkeinError } from '#shared/error.ts';
import { ADDRESS_IDS } from '#shared/iceberg/address-columns.ts';
import { FileListHold } from '#shared/iceberg/file-list-hold.ts';
import { EMPTY_REPORT } from '#shared/iceberg/planning.ts';
import type { Outcome } from '../operation/outcome.ts';
import type { ReturnedFiles, Returning } from '../operation/queries.ts';
import { singleFragment } from '../distributor/single-fragment.ts';
import type { Plan } from '../plan/plan.ts';
import { walkPlan } from '../plan/plan-tree.ts';
import type { ScanBinding } from '../binding/scan-binding.ts';
import { chooseWidth } from '../scheduler/choose-width.ts';
import type { QueryRun } from '../scheduler/one-run.ts';
import { namedScans, scanOf } from '../scheduler/plan-scans.ts';
import { runWhole } from '../scheduler/run-whole.ts';
import { setting } from '../session/session.ts';
import { rowEncoding } from '../sink/row-encoding.ts';
import { admitQuery, runLimits } from './admit-query.ts';
import type { QueryExecution } from './execute-query.ts';
import { onlyTable } from './execute-parts.ts';
import type { RunningStatement } from './running-statement.ts';

/** A query of one table that gives the rows of RETURNING. */
type ReturningExecution = RunningStatement &
  Pick<QueryExecution, 'query' | 'context' | 'shape'> & {
    /** Place of RETURNING in the statement. */
    readonly offset: number;
    readonly of: ReturnedFiles;
  };

/** Operators of a query with one row for each of its table. */
const PLAIN: ReadonlySet<Plan['kind']> = new Set(['scan', 'project', 'filter']);

/** @throws NOT_SUPPORTED for a query of more than one table, and for one whose rows are not those of the table */
export function returningRows(execution: ReturningExecution): Returning {
  const { query, offset, of } = execution;
  const { plan, scans } = query;
  const refused = (message: string): SkeinError => new SkeinError('NOT_SUPPORTED', message, { position: offset });
  if (scans.length !== 1 || (plan !== null && [...walkPlan(plan)].some(({ kind }) => !PLAIN.has(kind)))) {
    throw refused('RETURNING takes no subqueries, aggregates, window functions or unnest()');
  }
  const binding = onlyTable(scans, { text: '', offset });
  const lineage = binding.addresses.find(({ id }) => LINEAGE.has(id));
  if (of === 'written' && lineage !== undefined)
    throw refused(`rows have no ${lineage.name} before they are committed`);
  return {
    async read(files, count) {
      const { rows, ...outcome } = await readRows(execution, binding, { files, count });
      if (rows === count) return outcome;
      throw refused(`RETURNING gives ${rows} rows for the ${count} of the statement`);
    },
  };
}

const LINEAGE: ReadonlySet<number> = new Set([ADDRESS_IDS._row_id, ADDRESS_IDS._last_updated_sequence_number]);

type ReadRows = Omit<Outcome, 'rowsProduced'> & { readonly rows: number };

/** Runs the query over some files, in one task. Its rows wait in the statement's sink. */
async function readRows(
  execution: ReturningExecution,
  binding: ScanBinding,
  { files, count }: { readonly files: readonly ScanFile[]; readonly count: number },
): Promise<ReadRows> {
  const { services, request, active, session, query, context, shape } = execution;
  const { sink } = request;
  const { columns } = query;
  const { timeZone } = context;
  sink.hold();
  if (files.length === 0) {
    sink.start();
    return { rows: 0, bytesScanned: 0, fragments: 0 };
  }
  const { tenant, sub: principal } = request.caller.claims;
  const asking = { ...execution, destination: { kind: 'rows' } } as const;
  const place = await admitQuery(asking);
  using hold = new FileListHold(services.fileLists, tenant);
  try {
    hold.add(
      files.length,
      files.reduce((sum, { path }) => sum + path.length, 0),
    );
    await services.scheduler.pool.available(active.signal);
    let rows = 0;
    const run: QueryRun = {
      queryId: request.queryId,
      tenant,
      principal,
      context,
      ...runLimits(asking, place),
      profile: 'none',
      bounds: query.bounds,
      encoding: rowEncoding(sink.encoding, { columns, timeZone }, count),
      sink: null,
      signal: active.signal,
      onRun: (id, view) => {
        services.runs.add(id, shape);
        active.profile.shaped({ kind: 'whole', reason: 'it reads the files of one write' });
        active.follow(view, () => rows);
      },
      onStart: () => {
        rows = 0;
        sink.start();
      },
      onBatch: (batch) => {
        active.signal.throwIfAborted();
        rows += batch.rows;
        place.worked({ rows: batch.rows, scheduledMs: 0 });
        return sink.batch(batch);
      },
      mayStartOver: () => true,
    };
    const scans = [scanOf(binding, { files, report: { ...EMPTY_REPORT, files: files.length, ...sizeOf(files) } })];
    const width = chooseWidth(scans, query.features, setting(session, 'skein.task_width', services.config));
    const fragment = singleFragment(query, width);
    const report = await runWhole(services.scheduler, { ...run, scans: namedScans(scans, query.scans), fragment });
    return { rows: report.rows, bytesScanned: report.bytesScanned, fragments: 1 };
  } finally {
    active.profile.ended();
    place.release();
  }
}

const sizeOf = (files: readonly ScanFile[]): { readonly rows: number; readonly bytes: number } => ({
  rows: files.reduce((sum, { recordCount }) => sum + recordCount, 0),
  bytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
});
