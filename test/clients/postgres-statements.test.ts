import { afterAll, beforeAll, expect, test } from 'vitest';
import { browsedTables, type BrowsedTables } from '#test/support/browsed-tables.ts';
import { ToolServer, type ToolAnswer } from '#test/support/tool-server.ts';
import { toolStatements } from '#test/support/tool-statements.ts';

/**
 * Statements that tools send by themselves, to Skein and to the project's real Postgres with the same tables: the same columns with the same types, the same
 * types of parameters, the same class of SQLSTATE, and the same names of ours in the rows.
 */
let tables: BrowsedTables;
beforeAll(async () => {
  tables = await browsedTables(`statements_${process.pid}`);
});
afterAll(() => tables[Symbol.asyncDispose]());

/** Statements that Skein answers otherwise, and why. One that comes to agree has to be taken out. */
const DIFFERENCES: readonly { readonly numbers: readonly number[]; readonly how: string; readonly why: string }[] = [
  {
    numbers: [1, 2, 58],
    how: 'error none',
    why: 'psql 15 asks for a column by its name before Postgres 17, which is known here',
  },
  { numbers: [62], how: 'columns', why: 'Postgres has two functions of this name, and fails behind its description' },
  { numbers: [87], how: 'columns', why: 'a column that is computed has its text as name on every door' },
  { numbers: [90], how: 'columns', why: 'generate_series without FROM is a list on every door' },
  { numbers: [102], how: 'columns', why: 'there is no type void' },
  {
    numbers: [106, 246],
    how: 'columns',
    why: 'a query without a relation of the catalog is one of every door, and current_schema is a text',
  },
  {
    numbers: [113, 138, 140, 141, 152, 161, 180, 182, 183, 194, 207, 209, 210],
    how: 'columns',
    why: 'JSON is jsonb, as everywhere',
  },
  {
    numbers: [163, 165, 166, 168, 169, 177, 185, 186, 187, 189],
    how: 'parameters',
    why: 'the statement does not cast them: psycopg, which sends it, declares their types',
  },
  {
    numbers: [248],
    how: 'parameters',
    why: 'a number that is compared with an oid is a BIGINT; the driver declares it',
  },
];

/** The first thing in which the answers differ, and both; undefined when they are the same. */
function difference(ours: ToolAnswer, theirs: ToolAnswer): { readonly how: string; readonly seen: string } | undefined {
  if (ours.error !== theirs.error) {
    return { how: `error ${ours.error || 'none'}`, seen: `${ours.message || 'rows'} <> ${theirs.message || 'rows'}` };
  }
  for (const how of ['parameters', 'columns', 'names'] as const) {
    if (ours[how] !== theirs[how]) return { how, seen: `${ours[how]} <> ${theirs[how]}` };
  }
  return undefined;
}

test('statements that tools send: the answers of Postgres, but for the listed differences', async () => {
  const [ours, theirs] = [new ToolServer(tables.ours), new ToolServer(tables.theirs)];
  const found: string[] = [];
  const seen: string[] = [];
  for (const statement of toolStatements()) {
    const [mine, real] = await Promise.all([ours.answer(statement), theirs.answer(statement)]);
    const differs = difference(mine, real);
    if (differs === undefined) continue;
    found.push(`${statement.number} ${differs.how}`);
    seen.push(`${statement.number} ${statement.client}: ${differs.seen}`);
  }
  await Promise.all([ours.close(), theirs.close()]);
  const listed = DIFFERENCES.flatMap(({ numbers, how }) => numbers.map((number) => `${number} ${how}`));
  expect(found.toSorted(), seen.join('\n')).toEqual(listed.toSorted());
}, 300_000);
