import { AttackCluster } from '#test/attack/attack-cluster.ts';
import { Victims } from '#test/attack/victims.ts';
import { startCluster } from '#test/support/cluster.ts';
import { newSeed } from '#test/support/seed.ts';
import { printTable } from '../report/print-table.ts';
import { quantile } from '../report/statistics.ts';
import { writeResult } from '../report/write-result.ts';

const OTHERS = 8;
/** Alternations between the two loads, so that other activity of the machine affects both. */
const ROUNDS = 2;
const QUANTILE = 0.95;
const KINDS = ['point query', 'TPC-H', 'commit'] as const;
const BESIDE = ['nobody', 'honest', 'hostile'] as const;

type Beside = (typeof BESIDE)[number];

/**
 * Measures the latency of three clients of one tenant (point queries, TPC-H, commits) under two loads: eight heavy but honest clients of
 * another tenant, and eight attackers. Sharing has a cost; an attack must not cost more than that.
 */
export async function benchAttack({ seconds }: { readonly seconds: number }): Promise<void> {
  await using started = await startCluster({ workers: 2 });
  const cluster = await AttackCluster.prepare(started);
  const victims = await Victims.prepare(started);
  const seed = newSeed();
  await victims.run(AbortSignal.timeout(seconds * 500), seed);
  const waits = Object.fromEntries(BESIDE.map((beside) => [beside, new Map<string, number[]>()]));
  const faults: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const beside of BESIDE) {
      const others = beside === 'nobody' ? undefined : cluster.attack(beside, seed + round, OTHERS);
      const report = await victims.run(AbortSignal.timeout(seconds * 1_000), seed + round);
      await others?.stop();
      faults.push(...report.wrong, ...report.refused);
      for (const kind of KINDS) {
        const all = waits[beside]?.get(kind) ?? [];
        waits[beside]?.set(kind, [...all, ...report.waits[kind]]);
      }
      process.stderr.write('.');
    }
  }
  process.stderr.write('\n');
  if (faults.length > 0) throw new Error(`clients were refused or got wrong answers: ${faults.join('\n')}`);
  const p95Ms = (beside: Beside, kind: string): number => quantile(waits[beside]?.get(kind) ?? [], QUANTILE);
  const cases = KINDS.map((kind) => {
    const [aloneMs, honestMs, hostileMs] = [p95Ms('nobody', kind), p95Ms('honest', kind), p95Ms('hostile', kind)];
    return { name: kind, aloneMs, honestMs, hostileMs, ratio: hostileMs / honestMs };
  });
  const rows = cases.map(({ name, aloneMs, honestMs, hostileMs, ratio }) => [
    name,
    aloneMs.toFixed(0),
    honestMs.toFixed(0),
    hostileMs.toFixed(0),
    ratio.toFixed(2),
  ]);
  const worst = Math.max(...cases.map(({ ratio }) => ratio));
  await writeResult('attack', {
    table: printTable(['p95 of', 'alone, ms', 'beside 8 heavy clients', 'beside 8 attackers', 'ratio'], rows),
    figures: { seed, attackRatio: worst, waits: cases },
    chart: {
      title: 'Clients of one tenant beside eight of another: 95th percentile',
      unit: 'ms',
      labels: cases.map(({ name }) => name),
      series: [
        { name: 'honest', color: '#2563eb', values: cases.map(({ honestMs }) => honestMs) },
        { name: 'hostile', color: '#dc2626', values: cases.map(({ hostileMs }) => hostileMs) },
      ],
    },
  });
}
