import { parseArgs } from 'node:util';
import { newSeed } from '#test/support/seed.ts';
import { FUZZ_TARGETS } from './fuzz-targets.ts';

/**
 * `npm run fuzz -- [--minutes 10] [TARGET ...]`: replays earlier findings, then draws new input for each target in turn, from a new seed,
 * until the time is over or a target fails. `TEST_SEED` repeats a run.
 */
async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { minutes: { type: 'string', default: '10' } },
    allowPositionals: true,
  });
  const targets = FUZZ_TARGETS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  if (targets.length === 0 || targets.length < positionals.length) {
    process.stderr.write(
      `usage: npm run fuzz -- [--minutes N] [${FUZZ_TARGETS.map(({ name }) => name).join('|')} ...]\n`,
    );
    return 2;
  }
  const seed = newSeed();
  const endsAtMs = performance.now() + Number(values.minutes) * 60_000;
  for (const [i, { name, what, replay, fuzz }] of targets.entries()) {
    const again = await replay();
    const share = (endsAtMs - performance.now()) / (targets.length - i);
    const { runs, failure = again } = again === undefined ? await fuzz({ seed, forMs: share }) : { runs: 0 };
    if (failure !== undefined) {
      process.stdout.write(
        `${name}: ${failure}\nTEST_SEED=${seed} npm run fuzz -- --minutes ${values.minutes} ${name}\n`,
      );
      return 1;
    }
    process.stdout.write(`${name}: ${what}: ${runs} inputs\n`);
  }
  process.stdout.write(`TEST_SEED=${seed}: nothing found\n`);
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
