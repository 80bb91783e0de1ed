import { availableParallelism } from 'node:os';
import type { Cluster } from '#test/support/cluster.ts';
import { median } from '../report/statistics.ts';
import { PeakGrowth } from './peak-growth.ts';
import { signIn, timedRows, type TimedRows } from './timed-rows.ts';

/** Measured takes of a process, which are behind one that is not. */
const TAKES = 2;

export type LineitemFigures = {
  readonly rows: number;
  readonly bytes: number;
  readonly peersBytes: number;
  readonly skeinMs: number;
  readonly duckdbMs: number;
  readonly ratio: number;
  readonly grownMB: number;
};

/** All of lineitem as an Arrow table of pyarrow: over Flight SQL, and out of DuckDB in the client's process, in turns. */
export async function readLineitem(
  cluster: Cluster,
  { files, runs }: { readonly files: readonly string[]; readonly runs: number },
): Promise<LineitemFigures> {
  const growth = await PeakGrowth.startingNow(await cluster.pidOf('coordinator'));
  const [skein, duckdb]: [TimedRows[], TimedRows[]] = [[], []];
  const peersArgs = [String(availableParallelism()), String(TAKES), ...files];
  for (let run = 0; run < runs; run++) {
    const args = [...signIn(cluster), String(TAKES)];
    skein.push(await growth.during(() => timedRows('flight', 'read_lineitem.py', args)));
    duckdb.push(await timedRows('python', 'duckdb_lineitem.py', peersArgs));
    process.stderr.write('.');
  }
  process.stderr.write('\n');
  const [rows, peersRows] = [skein, duckdb].map((takes) => takes[0]?.rows ?? 0);
  if (rows === undefined || rows !== peersRows) throw new Error(`Skein gave ${rows} rows, DuckDB ${peersRows}`);
  const middle = (takes: readonly TimedRows[]): number => median(takes.flatMap(({ ms }) => ms));
  return {
    rows,
    bytes: skein[0]?.bytes ?? 0,
    peersBytes: duckdb[0]?.bytes ?? 0,
    skeinMs: middle(skein),
    duckdbMs: middle(duckdb),
    ratio: middle(skein) / middle(duckdb),
    grownMB: growth.grownMB,
  };
}

/** Longer than `coordinator.result_wait`: what is not taken by then waits on disk, and the statement ends. */
const WAIT_SECONDS = 15;
const READY_ROWS = 20_000_000;
/** Two columns of eight bytes: batches that cost the client nothing to take in. */
const READY = `SELECT r AS a, r + 1 AS b FROM range(${READY_ROWS}) t(r)`;

/** How fast pyarrow takes batches that lie ready, in GB of their columns a second. */
export async function readReady(cluster: Cluster, runs: number): Promise<number> {
  const args = [...signIn(cluster), READY, String(WAIT_SECONDS), String(runs)];
  const { ms, rows, bytes } = await timedRows('flight', 'read_ready.py', args);
  if (rows !== READY_ROWS) throw new Error(`${rows} rows of ${READY_ROWS} came`);
  return bytes / 1e6 / median(ms);
}
