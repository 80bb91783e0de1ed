import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { startCluster } from '#test/support/cluster.ts';
import { foundQueries, openOracle } from './oracle.ts';
import { printQuery, randomQuery } from './random-query.ts';

/**
 * `npm run oracle -- [--runs 5000] [--seed N] [--workers 2]`: random queries until one gives other rows than DuckDB. That one is shrunk
 * and kept in `found/`, where it runs first from then on.
 */
async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      runs: { type: 'string', default: '5000' },
      seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
      workers: { type: 'string', default: '2' },
    },
  });
  const [runs, seed] = [Number(values.runs), Number(values.seed)];
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
  const result = await fc.check(property, { numRuns: runs, seed });
  process.stderr.write('\n');
  if (!result.failed) {
    process.stdout.write(`${runs} random queries, seed ${seed}: all as DuckDB answers them\n`);
    return 0;
  }
  const file = join(import.meta.dirname, `found/seed-${seed}.json`);
  await mkdir(join(import.meta.dirname, 'found'), { recursive: true });
  await writeFile(
    file,
    `${JSON.stringify({ why: last.difference.slice(0, WHY_LENGTH_MAX), sql: last.sql }, null, 2)}\n`,
  );
  process.stdout.write(`${last.difference}\n${last.sql}\nkept as ${file}\n`);
  return 1;
}

const PROGRESS_EVERY = 100;
const WHY_LENGTH_MAX = 200;

process.exitCode = await main(process.argv.slice(2));
