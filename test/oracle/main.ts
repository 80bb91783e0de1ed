import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { startCluster } from '#test/support/cluster.ts';
import { newSeed } from '#test/support/seed.ts';
import { foundQueries, openOracle } from './oracle.ts';
import { printQuery, randomQuery } from './random-query.ts';

/**
 * `npm run oracle -- [--runs 5000 | --minutes 10] [--workers 2]`: random queries, from a new seed unless TEST_SEED repeats one, until one
 * gives other rows than DuckDB. That one is shrunk and kept in `found/`, where it runs first from then on.
 */
async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      runs: { type: 'string', default: '5000' },
      minutes: { type: 'string' },
      workers: { type: 'string', default: '2' },
    },
  });
  const minutes = values.minutes === undefined ? Number.POSITIVE_INFINITY : Number(values.minutes);
  const runs = values.minutes === undefined ? Number(values.runs) : Number.MAX_SAFE_INTEGER;
  const seed = newSeed();
  process.stdout.write(`TEST_SEED=${seed} npm run oracle -- ${args.join(' ')}\n`);
  await using oracle = await openOracle(
    await startCluster({ workers: Number(values.workers), args: ['--worker-cores', '1'] }),
  );
  for (const { sql, name } of foundQueries()) {
    const difference = await oracle.difference(sql);
    if (difference === null) continue;
    process.stdout.write(`${name}: ${difference}\n`);
    return 1;
  }
  let asked = 0;
  let last = { sql: '', difference: '' };
  const property = fc.asyncProperty(randomQuery, async (query) => {
    const sql = printQuery(query);
    const difference = await oracle.difference(sql);
    if (++asked % PROGRESS_EVERY === 0) process.stderr.write(`${asked} `);
    if (difference !== null) last = { sql, difference };
    return difference === null;
  });
  const endless = Number.isFinite(minutes) ? { interruptAfterTimeLimit: minutes * 60_000 } : {};
  const result = await fc.check(property, { numRuns: runs, seed, ...endless });
  process.stderr.write('\n');
  if (last.difference === '') {
    process.stdout.write(`${result.numRuns} random queries, seed ${seed}: all as DuckDB answers them\n`);
    return 0;
  }
  const file = join(import.meta.dirname, `found/seed-${seed}.json`);
  await mkdir(join(import.meta.dirname, 'found'), { recursive: true });
  const found = { why: last.difference.slice(0, WHY_LENGTH_MAX), sql: last.sql };
  await writeFile(file, `${JSON.stringify(found, null, 2)}\n`);
  process.stdout.write(`${last.difference}\n${last.sql}\nkept as ${file}\n`);
  return 1;
}

const PROGRESS_EVERY = 100;
const WHY_LENGTH_MAX = 200;

process.exitCode = await main(process.argv.slice(2));
