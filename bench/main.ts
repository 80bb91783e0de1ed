import { parseArgs } from 'node:util';
import { reportTargets } from './report-targets.ts';
import { benchAttack } from './attack/bench-attack.ts';
import { benchBrowse } from './browse/bench-browse.ts';
import { benchCatalog } from './catalog/bench-catalog.ts';
import { benchExchange } from './exchange/bench-exchange.ts';
import { benchFirstMinutes } from './first-minutes/bench-first-minutes.ts';
import { benchFlight } from './flight/bench-flight.ts';
import { benchHistory } from './history/bench-history.ts';
import { benchLatency } from './latency/bench-latency.ts';
import { benchMechanisms } from './mechanisms/bench-mechanisms.ts';
import { benchObjectStore } from './object-store/bench-object-store.ts';
import { benchOtherStore } from './object-store/bench-other-store.ts';
import { benchPostgres } from './postgres/bench-postgres.ts';
import { benchTpcds } from './tpcds/bench-tpcds.ts';
import { benchScale } from './tpch/bench-scale.ts';
import { benchTpch } from './tpch/bench-tpch.ts';
import { benchMixed } from './mixed/bench-mixed.ts';
import { benchCopy } from './writes/bench-copy.ts';
import { benchMerge } from './writes/bench-merge.ts';
import { benchWrites } from './writes/bench-writes.ts';

const USAGE = `usage: npm run bench -- tpch [--scale S] [--runs N] [--distributed] [--without-copies]
       npm run bench -- tpcds [--scale S] [--runs N] [--mode whole|forced] [--without-copies]
       npm run bench -- scale [--scale S] [--runs N]
       npm run bench -- latency [--scale S] [--seconds N]
       npm run bench -- writes [--scale S] [--runs N] [--seconds N]
       npm run bench -- copy [--runs N]: COPY INTO, which \`writes\` measures, too
       npm run bench -- merge [--scale S] [--runs N]: beside Spark, which it downloads
       npm run bench -- mixed [--scale S] [--runs N] [--seconds N]
       npm run bench -- history [--scale S] [--seconds N]
       npm run bench -- exchange [--scale S] [--runs N]
       npm run bench -- catalog [--seconds N] [--requests N]
       npm run bench -- mechanisms [--scale S] [--runs N]: what exists for speed alone, off and on
       npm run bench -- attack [--seconds N]
       npm run bench -- first-minutes [--seconds N]: point queries from the first second on, and the memory of an idle cluster
       npm run bench -- browse [--seconds N]: INFORMATION_SCHEMA over 10,000 tables
       npm run bench -- flight [--scale S] [--runs N] [--seconds N]: Flight SQL beside HTTP, DuckDB and COPY INTO
       npm run bench -- postgres [--scale S] [--runs N] [--seconds N]: the Postgres wire beside Postgres itself
       npm run bench -- object-store [--scale S] [--runs N]: TPC-H over MinIO beside file: and DuckDB's httpfs
       npm run bench -- object-store --store s3|gcs|adls [--scale S] [--runs N]: the same over one store or emulator, warm, beside file:
       npm run bench -- report: the targets of all that was measured, also into docs/performance.md
       npm run bench -- all
`;

/** Runs one benchmark on a cluster of its own; its data directory stays in .cache/bench, so that a second run loads nothing. */
async function main(args: readonly string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      scale: { type: 'string', default: '1' },
      runs: { type: 'string', default: '3' },
      distributed: { type: 'boolean', default: false },
      'without-copies': { type: 'boolean', default: false },
      seconds: { type: 'string' },
      requests: { type: 'string', default: '216000' },
      mode: { type: 'string' },
      store: { type: 'string' },
    },
  });
  const [name] = positionals;
  if (name === 'all') return benchAll();
  if (name === 'report') return reportTargets().then(() => 0);
  const runs = Number(values.runs);
  const withoutCopies = values['without-copies'];
  if (name === 'tpch') await benchTpch({ scale: values.scale, runs, distributed: values.distributed, withoutCopies });
  else if (name === 'tpcds') await benchTpcds({ scale: values.scale, runs, withoutCopies, mode: values.mode });
  else if (name === 'scale') await benchScale({ scale: values.scale, runs });
  else if (name === 'latency') await benchLatency({ scale: values.scale, seconds: Number(values.seconds ?? 5) });
  else if (name === 'attack') await benchAttack({ seconds: Number(values.seconds ?? 30) });
  else if (name === 'first-minutes') await benchFirstMinutes({ seconds: Number(values.seconds ?? 20) });
  else if (name === 'object-store' && values.store !== undefined) {
    await benchOtherStore({ scale: values.scale, runs, store: values.store });
  } else if (name === 'object-store') await benchObjectStore({ scale: values.scale, runs });
  else if (name === 'browse') await benchBrowse({ seconds: Number(values.seconds ?? 10) });
  else if (name === 'flight') {
    await benchFlight({ scale: values.scale, runs, seconds: Number(values.seconds ?? 10) });
  } else if (name === 'postgres') {
    await benchPostgres({ scale: values.scale, runs, seconds: Number(values.seconds ?? 10) });
  } else if (name === 'mechanisms') await benchMechanisms({ scale: values.scale, runs });
  else if (name === 'exchange') await benchExchange({ scale: values.scale, runs });
  else if (name === 'copy') await benchCopy({ runs });
  else if (name === 'writes') {
    await benchWrites({ scale: values.scale, runs, seconds: Number(values.seconds ?? 60) });
    await benchCopy({ runs });
  } else if (name === 'mixed') await benchMixed({ scale: values.scale, runs, seconds: Number(values.seconds ?? 180) });
  else if (name === 'history') await benchHistory({ scale: values.scale, seconds: Number(values.seconds ?? 60) });
  else if (name === 'merge') await benchMerge({ scale: values.scale, runs });
  else if (name === 'catalog') {
    await benchCatalog({ seconds: Number(values.seconds ?? 5), requests: Number(values.requests) });
  } else {
    process.stderr.write(USAGE);
    return 2;
  }
  return 0;
}

/** Runs every benchmark with its defaults, and compares the figures with their targets. */
async function benchAll(): Promise<number> {
  for (const args of [
    ['tpch'],
    ['tpch', '--distributed'],
    ['tpcds'],
    ['tpcds', '--scale', '10'],
    ['scale'],
    ['latency'],
    ['writes'],
    ['mixed'],
    ['history'],
    ['exchange'],
    ['catalog'],
    ['attack'],
    ['first-minutes'],
    ['browse'],
    ['object-store'],
    ['flight'],
    ['postgres'],
  ]) {
    if ((await main(args)) !== 0) return 1;
  }
  await reportTargets();
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
