import { parseArgs } from 'node:util';
import { newSeed } from '#test/support/seed.ts';
import { runChaos } from './run-chaos.ts';

/** `npm run chaos -- [--minutes 10]`, from a new seed unless TEST_SEED repeats one: prints the report, exits 1 on a wrong answer, a hang or a leak. */
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
  process.stdout.write(`${JSON.stringify({ seed, ...report }, null, 2)}\n`);
  return report.wrong.length + report.hung.length + report.leaks.length === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
