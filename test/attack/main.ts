import { parseArgs } from 'node:util';
import { startCluster } from '#test/support/cluster.ts';
import { INSPECTABLE } from '#test/support/inspected-process.ts';
import { newSeed } from '#test/support/seed.ts';
import { complaints, growth, runAttack, SETTLE_MS } from './run-attack.ts';

/**
 * `npm run attack -- [--minutes 10]`, from a new seed unless TEST_SEED repeats one: prints the report, exits 1 when there is a complaint.
 */
async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '10' },
    },
  });
  const seed = newSeed();
  process.stdout.write(`TEST_SEED=${seed} npm run attack -- --minutes ${values.minutes}\n`);
  await using cluster = await startCluster({ workers: 2, env: INSPECTABLE });
  const report = await runAttack(cluster, { seed, forMs: Number(values.minutes) * 60_000, settleMs: SETTLE_MS.memory });
  const found = [...complaints(report), ...growth(report)];
  process.stdout.write(`${JSON.stringify({ seed, ...report, complaints: found }, null, 2)}\n`);
  return found.length === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
