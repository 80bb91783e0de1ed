import { startBenchCluster } from '../bench-cluster.ts';
import { printTable } from '../report/print-table.ts';
import { writeResult } from '../report/write-result.ts';
import { warmUp } from '../warm-up.ts';
import { ingestRows, type IngestFigures } from './ingest-rows.ts';
import { readLineitem, readReady, type LineitemFigures } from './read-lineitem.ts';
import { selectOne, type SelectOne } from './select-one.ts';

type Options = { readonly scale: string; readonly runs: number; readonly seconds: number };
type Measured = {
  readonly one: SelectOne;
  readonly lineitem: LineitemFigures;
  readonly readyGBs: number;
  readonly ingest: IngestFigures;
};

/** Measures Flight SQL: small statements beside HTTP, a large result beside DuckDB in the client's process, and rows that come in beside COPY INTO. */
export async function benchFlight({ scale, runs, seconds }: Options): Promise<void> {
  const { cluster, files } = await startBenchCluster(scale);
  try {
    // The comments are most of the bytes: once they are copied, the file is.
    await warmUp(cluster, () => cluster.sql('SELECT max(l_comment), count(*) FROM lake.tpch.lineitem'));
    const one = await selectOne(cluster, seconds);
    const lineitem = await readLineitem(cluster, { files: files.lineitem, runs });
    const ingest = await ingestRows(cluster, runs);
    const readyGBs = await readReady(cluster, runs);
    await report(scale, { one, lineitem, readyGBs, ingest });
  } finally {
    await cluster.stop();
  }
}

async function report(scale: string, { one, lineitem, readyGBs, ingest }: Measured): Promise<void> {
  const selectOneRatio = one.flight.p50Ms / one.http.p50Ms;
  const lines = [
    printTable(
      ['', 'MB', 'Skein ms', 'peer ms', 'ratio', 'coordinator + MiB'],
      [
        row('lineitem, to DuckDB', lineitem.bytes, [lineitem.skeinMs, lineitem.duckdbMs], lineitem.grownMB),
        row('ingest of a million rows, to COPY INTO', ingest.bytes, [ingest.ingestMs, ingest.copyMs], ingest.grownMB),
      ],
    ),
    '',
    ...[one.flight, one.http].map(
      ({ name, p50Ms, p99Ms }) => `${name}: p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`,
    ),
    `Flight SQL takes ${selectOneRatio.toFixed(2)} x HTTP's time`,
    `batches that lie ready: ${readyGBs.toFixed(2)} GB/s`,
  ];
  await writeResult('flight', {
    table: lines.join('\n'),
    figures: { scale, flight: { ...one, selectOneRatio, lineitem, readyGBs, ingest } },
    chart: {
      title: 'Flight SQL, median',
      unit: 'ms',
      labels: ['lineitem, to DuckDB', 'ingest, to COPY INTO'],
      series: [
        { name: 'Flight SQL', color: '#2563eb', values: [lineitem.skeinMs, ingest.ingestMs] },
        { name: 'peer', color: '#f59e0b', values: [lineitem.duckdbMs, ingest.copyMs] },
      ],
    },
  });
}

const row = (
  name: string,
  bytes: number,
  [ms, peersMs]: readonly [number, number],
  grownMB: number,
): readonly string[] => [
  name,
  (bytes / 1e6).toFixed(0),
  ms.toFixed(0),
  peersMs.toFixed(0),
  (ms / peersMs).toFixed(2),
  grownMB.toFixed(0),
];
