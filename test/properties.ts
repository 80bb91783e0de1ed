import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { projectRoot, run } from './support/cluster.ts';
import { newSeed } from './support/seed.ts';

/**
 * `npm run properties -- [--minutes 10]`: runs every random property of the unit and plan tests repeatedly, each time from a new seed,
 * until the time is over or one fails. Add its shrunk counterexample to the property's examples.
 */
async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { minutes: { type: 'string', default: '10' } } });
  const end = performance.now() + Number(values.minutes) * 60_000;
  const files = globSync('**/*.test.ts', { cwd: projectRoot, exclude: ['**/node_modules/**'] }).filter((path) =>
    readFileSync(join(projectRoot, path), 'utf8').includes("from 'fast-check'"),
  );
  let seeds = 0;
  for (; performance.now() < end; seeds++) {
    const TEST_SEED = String(newSeed());
    // A long timeout, because a seed should find wrong answers, not slow machines.
    const vitest = ['vitest', 'run', '--project', 'unit', '--project', 'plan', '--testTimeout=120000', ...files];
    const { code, stdout, stderr } = await run('npx', vitest, { env: { TEST_SEED } });
    if (code === 0) continue;
    process.stdout.write(`${stdout}${stderr}\nTEST_SEED=${TEST_SEED} npx ${vitest.join(' ')}\n`);
    return 1;
  }
  process.stdout.write(`${seeds} seeds, ${files.length} files of properties: all hold\n`);
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
