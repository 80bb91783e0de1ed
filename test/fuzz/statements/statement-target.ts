import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { allDocsStatements } from '#test/support/docs-statements.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { Random } from '../random.ts';
import { mutateStatement, type Mutated } from './mutate-statement.ts';
import { StatementOracle } from './statement-oracle.ts';

const FOUND_FOLDER = join(import.meta.dirname, '../found/statements');

type Found = { readonly original: string; readonly why: string } & Mutated;

const foundStatements = (): readonly (Found & { readonly name: string })[] =>
  globSync(join(FOUND_FOLDER, '*.json'))
    .sort()
    .map((file) => ({ ...(JSON.parse(readFileSync(file, 'utf8')) as Found), name: basename(file) }));

/** Statements without parameters: their values stand in the text when it is read. */
const examples = async (): Promise<readonly string[]> =>
  (await allDocsStatements()).map((sql) => sql.replaceAll('?', "'june'").trim());

/** Each part of a statement is the one thing that stands in its place. */
export const statementTarget: FuzzTarget = {
  name: 'statements',
  what: 'junk in any part of a statement of the documentation is refused, and a comment changes nothing',
  replay: async () => {
    const oracle = await StatementOracle.open();
    for (const found of foundStatements()) {
      const why = await oracle.wrong(found.original, found);
      if (why !== null) return `${found.name}: ${why}\n${found.sql}`;
    }
    return undefined;
  },
  fuzz: async ({ seed, forMs }) => {
    const oracle = await StatementOracle.open();
    const originals = await examples();
    const random = new Random(seed);
    const endsAtMs = performance.now() + forMs;
    let runs = 0;
    for (; performance.now() < endsAtMs; runs += 1) {
      const original = random.pick(originals);
      const mutated = mutateStatement(original, random);
      const why = await oracle.wrong(original, mutated);
      if (why !== null)
        return { runs, failure: `${why}\n${mutated.sql}\nkept as ${keep(seed, { original, why, ...mutated })}` };
    }
    return { runs };
  },
};

function keep(seed: number, found: Found): string {
  const file = join(FOUND_FOLDER, `seed-${seed}.json`);
  mkdirSync(FOUND_FOLDER, { recursive: true });
  writeFileSync(file, `${JSON.stringify(found, null, 2)}\n`);
  return file;
}

/** Puts junk into every example, so many times. @returns what breaks a law, and how the statements went */
export async function eachExample(
  seed: number,
  times: number,
): Promise<{ readonly wrong: readonly string[]; readonly oracle: StatementOracle }> {
  const oracle = await StatementOracle.open();
  const random = new Random(seed);
  const wrong: string[] = [];
  for (const original of await examples()) {
    for (let i = 0; i < times; i += 1) {
      const mutated = mutateStatement(original, random);
      const why = await oracle.wrong(original, mutated);
      if (why !== null) wrong.push(`${why}\n${mutated.sql}`);
    }
  }
  return { wrong, oracle };
}
