import { parseArgs } from 'node:util';
import { newSeed } from '#test/support/seed.ts';
import { complaints, runChaos } from './run-chaos.ts';

/**
 * `npm run chaos -- [--minutes 10]`, from a new seed unless TEST_SEED repeats one: prints the report, exits 1 when there is a complaint.
 */
async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '10' },
    },
  });
  const seed = newSeed();
  process.stdout.write(`TEST_SEED=${seed} npm run chaos -- --minutes ${values.minutes}\n`);
  const report = await runChaos({ seed, forMs: Number(values.minutes) * 60_000 });
  const found = complaints(report);
  process.stdout.write(`${JSON.stringify({ seed, ...report, complaints: found }, null, 2)}\n`);
  return found.length === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
