import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { foundStatements, GateOracle } from './gate-oracle.ts';
import { printStatement, randomStatement } from './random-statement.ts';

/**
 * `npm run gate:fuzz -- [--minutes 10] [--seed N]`: random statements until the gate and DuckDB do not agree about one, or the time is up.
 * That one is shrunk and kept in `found/`, where it runs first from then on. `TEST_SEED` is the seed when none is given.
 */
async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string' } },
  });
  const seed = Number(values.seed ?? process.env['TEST_SEED'] ?? Date.now() % 2 ** 31);
  const oracle = await GateOracle.open();
  for (const { sql, name } of foundStatements()) {
    const difference = await oracle.difference(sql);
    if (difference === null) continue;
    process.stdout.write(`${name}: ${difference}\n`);
    return 1;
  }
  process.stdout.write(`seed ${seed}\n`);
  const deadlineMs = performance.now() + Number(values.minutes) * 60_000;
  let asked = 0;
  let last = { sql: '', difference: '' };
  const property = fc.asyncProperty(randomStatement, async (statement) => {
    const sql = printStatement(statement);
    const difference = await oracle.difference(sql);
    if (++asked % PROGRESS_EVERY === 0) process.stderr.write(`${asked} `);
    if (difference !== null) last = { sql, difference };
    return difference === null;
  });
  for (let round = 0; performance.now() < deadlineMs; round++) {
    const result = await fc.check(property, { numRuns: RUNS_OF_A_ROUND, seed: (seed + round) % 2 ** 31 });
    if (!result.failed) continue;
    const file = join(import.meta.dirname, `found/seed-${seed + round}.json`);
    await mkdir(join(import.meta.dirname, 'found'), { recursive: true });
    const why = last.difference.slice(0, WHY_LENGTH_MAX);
    await writeFile(file, `${JSON.stringify({ why, sql: last.sql }, null, 2)}\n`);
    process.stdout.write(`\n${last.difference}\n${last.sql}\nkept as ${file}\n`);
    return 1;
  }
  process.stdout.write(`\n${asked} random statements, seed ${seed}: ${JSON.stringify(oracle.outcomes)}\n`);
  return 0;
}

const RUNS_OF_A_ROUND = 2_000;
const PROGRESS_EVERY = 1_000;
const WHY_LENGTH_MAX = 200;

process.exitCode = await main(process.argv.slice(2));
