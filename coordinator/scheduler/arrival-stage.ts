import type { TableRows } from '../binding/table-rows.ts';
import type { TaskWidth, WholeFragment } from '../distributor/fragment.ts';
import { POLICY_STAGES } from '../plan/stage-title.ts';
import { barrierFragment, barrierRun } from './barrier-stage.ts';
import type { TaskDispatcher } from './dispatch-tasks.ts';
import type { PlannedScan } from './plan-scans.ts';
import type { Scheduler } from './scheduler.ts';
import { StageRun, type Arrivals } from './stage-run.ts';

/**
 * Brings the rows that a client has sent to the workers, because they are too many to travel with each task that reads them: a task for each
 * part of them carries it there, and keeps it as its output, which the stages of the query read as they read each other's.
 * ```
 * the coordinator's disk ─ part 0 ─▶ task ─▶ spool of a worker ─┐
 *                        ─ part 1 ─▶ task ─▶ spool of a worker ─┴▶ the query's tasks
 * ```
 * A part whose worker is lost is sent anew.
 */
export async function bringRows(dispatcher: TaskDispatcher, scans: readonly PlannedScan[]): Promise<Arrivals> {
  const all = new Set(
    scans.flatMap((scan) => (scan.kind === 'rows' && scan.rows.parts !== undefined ? [scan.rows] : [])),
  );
  const arrivals = new Map<TableRows, StageRun>();
  for (const rows of all) {
    const scan = scans.findIndex((one) => one.kind === 'rows' && one.rows === rows);
    const fragment = partsFragment(-1 - arrivals.size, scan);
    const run = new StageRun({ fragment, producers: [], result: null, sink: null });
    run.start({ scans, workers: [], isFixed: false });
    arrivals.set(rows, run);
  }
  if (arrivals.size > 0) await dispatcher.run([...arrivals.values()]);
  return arrivals;
}

/** Applies the policies of the tables that a query reads whole: their rows are read as those that a client has sent. */
export async function policedArrivals(
  dispatcher: TaskDispatcher,
  {
    scans,
    scheduler,
    width,
  }: { readonly scans: readonly PlannedScan[]; readonly scheduler: Scheduler; readonly width: TaskWidth },
): Promise<Arrivals> {
  const arrivals = new Map<TableRows, StageRun>();
  for (const [scan, planned] of scans.entries()) {
    const { policed } = planned;
    if (planned.kind !== 'rows' || policed === undefined) continue;
    const { columns } = planned.rows;
    const fragment = barrierFragment({ stage: POLICY_STAGES - scan, scan, policed, columns, width });
    arrivals.set(planned.rows, barrierRun(scheduler, fragment, policed));
  }
  if (arrivals.size > 0) await dispatcher.run([...arrivals.values()]);
  return arrivals;
}

/** Gives the rows as they are. The numbers of these stages are below those of the query's. */
const partsFragment = (stage: number, scan: number): WholeFragment => ({
  stage,
  plan: null,
  partitions: 1,
  sql: ['SELECT * FROM ', { scan: 0 }],
  scans: [{ scan, read: 'all' }],
  inputs: [],
  tasks: { kind: 'parts' },
  width: 1,
  collected: false,
  repeatable: true,
});
