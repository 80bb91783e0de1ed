import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { startCluster } from '#test/support/cluster.ts';
import { newSeed } from '#test/support/seed.ts';
import {
  batches,
  batchKey,
  compareCalls,
  filledCalls,
  functionTable,
  statementOf,
  type FilledCall,
} from './function-table.ts';
import { foundQueries, NOTHING_SHARE_MAX, openOracle, type Oracle } from './oracle.ts';
import { neverCompared, Questions, randomQuestion, tablesOf, usableCalls } from './random-questions.ts';
import { servedCalls } from './served-calls.ts';

/**
 * `npm run oracle -- [--runs 5000 | --minutes 10] [--workers 2]`: runs the statements that were once wrong, then one call of each served
 * function with each type of its arguments, then random statements over random tables, from a new seed unless TEST_SEED repeats one, until
 * one gives other rows than DuckDB. That one is shrunk and stored in `found/`; later runs begin with it.
 */
async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      runs: { type: 'string', default: '5000' },
      minutes: { type: 'string' },
      workers: { type: 'string', default: '2' },
      functions: { type: 'string', default: '.*' },
    },
  });
  const minutes = values.minutes === undefined ? Number.POSITIVE_INFINITY : Number(values.minutes);
  const runs = values.minutes === undefined ? Number(values.runs) : Number.MAX_SAFE_INTEGER;
  const seed = newSeed();
  say(`TEST_SEED=${seed} npm run oracle -- ${args.join(' ')}`);
  const cluster = await startCluster({ workers: Number(values.workers), args: ['--worker-cores', '1'] });
  await using oracle = await openOracle(cluster, tablesOf(seed));
  const { connection, ask } = await functionTable();
  const served = await servedCalls(connection);
  for (const { sql, name } of foundQueries()) {
    const outcome = await oracle.compare(sql);
    if (outcome.kind === 'same' || (outcome.kind === 'nothing' && MAY_COMPARE_NOTHING.has(outcome.why))) continue;
    say(`${name}: ${outcome.kind === 'differs' ? outcome.difference : outcome.why}`);
    return 1;
  }
  const compared = new Set<string>();
  const calls = await filledCalls(served.calls, ask);
  const names = new RegExp(`^(?:${values.functions})$`);
  const wrong = await askFunctions(
    oracle,
    calls.filter(({ name }) => names.test(name)),
    compared,
  );
  const found = await askQuestions(oracle, calls, { seed, runs, minutes, compared });
  const never = neverCompared(served, compared);
  say(`${compared.size} of ${served.signatures.length} served signatures were compared; never: ${never.join('; ')}`);
  for (const [name, reason] of served.leftOut) say(`left out: ${name}: ${reason}`);
  return wrong || found ? 1 : 0;
}

const say = (line: string): boolean => process.stdout.write(`${line}\n`);

/** Runs every call whole and in fragments; returns whether one was wrong. */
async function askFunctions(oracle: Oracle, calls: readonly FilledCall[], compared: Set<string>): Promise<boolean> {
  let wrong = 0;
  for (const batch of batches(calls, CALLS_AT_ONCE, batchKey)) {
    for (const { call, difference, isSame } of await compareCalls(
      batch,
      [oracle.whole, oracle.distributed],
      oracle.duckdb,
    )) {
      if (isSame) compared.add(call.signature);
      if (difference === null) continue;
      wrong++;
      say(`${difference}\n${statementOf([call])}`);
    }
  }
  say(`${calls.length} calls of served functions: ${wrong} wrong`);
  return wrong > 0;
}

type QuestionOptions = {
  readonly seed: number;
  readonly runs: number;
  readonly minutes: number;
  readonly compared: Set<string>;
};

/** Asks random questions; returns whether one was answered wrongly, or too many compared nothing. */
async function askQuestions(
  oracle: Oracle,
  calls: readonly FilledCall[],
  { seed, runs, minutes, compared }: QuestionOptions,
): Promise<boolean> {
  const questions = new Questions(oracle, tablesOf(seed), usableCalls(calls));
  let last = { sql: '', difference: '' };
  const property = fc.asyncProperty(randomQuestion, async (question) => {
    const { sql, outcome } = await questions.ask(question);
    if (questions.asked % PROGRESS_EVERY === 0) process.stderr.write(`${questions.asked} `);
    if (outcome.kind === 'differs') last = { sql, difference: outcome.difference };
    return outcome.kind !== 'differs';
  });
  const endless = Number.isFinite(minutes) ? { interruptAfterTimeLimit: minutes * 60_000 } : {};
  const result = await fc.check(property, { numRuns: runs, seed, ...endless });
  process.stderr.write('\n');
  for (const signature of questions.compared) compared.add(signature);
  const nothing = [...questions.nothing].map(([why, count]) => `${why}: ${count}`).join(', ');
  say(`of ${questions.asked} questions ${(questions.nothingShare * 100).toFixed(1)} % compared nothing (${nothing})`);
  if (last.difference === '') {
    say(`${result.numRuns} random questions, seed ${seed}: all as DuckDB answers them`);
    return questions.nothingShare > NOTHING_SHARE_MAX;
  }
  const file = join(import.meta.dirname, `found/seed-${seed}.json`);
  await mkdir(join(import.meta.dirname, 'found'), { recursive: true });
  const tables = tablesOf(seed).filter(({ name }) => last.sql.includes(`${name} `));
  const kept = { why: last.difference.slice(0, WHY_LENGTH_MAX), sql: last.sql, tables: tables.map(({ sql }) => sql) };
  await writeFile(file, `${JSON.stringify(kept, null, 2)}\n`);
  say(`${last.difference}\n${last.sql}\nkept as ${file}`);
  return true;
}

/** Why a statement that was once wrong may have nothing to compare. */
const MAY_COMPARE_NOTHING: ReadonlySet<string> = new Set([
  'no rows',
  'DuckDB gives other rows in another order or from other files',
]);

const CALLS_AT_ONCE = 12;
const PROGRESS_EVERY = 100;
const WHY_LENGTH_MAX = 200;

process.exitCode = await main(process.argv.slice(2));
