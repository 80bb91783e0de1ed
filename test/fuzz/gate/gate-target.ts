import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import type { FuzzTarget } from '../fuzz-target.ts';
import { FOUND_FOLDER, foundStatements, GateOracle } from './gate-oracle.ts';
import { printStatement, randomStatement } from './random-statement.ts';

/** Statements per seed; with more, shrinking a wrong one would take long. */
const RUNS_OF_A_SEED = 2_000;
const SEEDS = 2 ** 31;
const WHY_LENGTH_MAX = 200;

/** The gate and a DuckDB that has the tables read the same names in every statement. */
export const gateTarget: FuzzTarget = {
  name: 'gate',
  what: 'every name of a statement that the gate lets pass means to DuckDB what it means to the gate',
  replay: async () => {
    const oracle = await GateOracle.open();
    for (const { sql, name } of foundStatements()) {
      const difference = await oracle.difference(sql);
      if (difference !== null) return `${name}: ${difference}`;
    }
    return undefined;
  },
  fuzz: async ({ seed, forMs }) => {
    const oracle = await GateOracle.open();
    const endsAtMs = performance.now() + forMs;
    let runs = 0;
    let last = { sql: '', why: '' };
    const property = fc.asyncProperty(randomStatement, async (statement) => {
      const sql = printStatement(statement);
      const why = await oracle.difference(sql);
      runs += 1;
      if (why !== null) last = { sql, why };
      return why === null;
    });
    for (let round = 0; performance.now() < endsAtMs; round++) {
      const roundSeed = (seed + round) % SEEDS;
      const left = Math.max(1, endsAtMs - performance.now());
      await fc.check(property, { numRuns: RUNS_OF_A_SEED, seed: roundSeed, interruptAfterTimeLimit: left });
      if (last.sql !== '') return { runs, failure: `${last.why}\n${last.sql}\nkept as ${keep(roundSeed, last)}` };
    }
    return { runs };
  },
};

function keep(seed: number, { sql, why }: { readonly sql: string; readonly why: string }): string {
  const file = join(FOUND_FOLDER, `seed-${seed}.json`);
  mkdirSync(FOUND_FOLDER, { recursive: true });
  writeFileSync(file, `${JSON.stringify({ why: why.slice(0, WHY_LENGTH_MAX), sql }, null, 2)}\n`);
  return file;
}
