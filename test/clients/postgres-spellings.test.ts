import { afterAll, beforeAll, expect, test } from 'vitest';
import { browsedTables, type BrowsedTables } from '#test/support/browsed-tables.ts';
import { spelledOtherwise } from '#test/support/spelled-otherwise.ts';
import { ToolServer } from '#test/support/tool-server.ts';
import { toolStatements } from '#test/support/tool-statements.ts';

let tables: BrowsedTables;
beforeAll(async () => {
  tables = await browsedTables(`spellings_${process.pid}`);
});
afterAll(() => tables[Symbol.asyncDispose]());

/** Statements that only read, and of which the same statement again gives the same rows. */
const READS = /^\s*(?:select|with)\b/i;
const CHANGING = /\bpg_(?:sleep|terminate_backend|cancel_backend|stat_activity|backend_pid)\b|\bfor update\b/i;

test('names that are spelled otherwise mean the same: the same rows, and no error that Postgres has not', async () => {
  const [ours, theirs] = [new ToolServer(tables.ours), new ToolServer(tables.theirs)];
  const different: string[] = [];
  let count = 0;
  for (const statement of toolStatements().filter(({ sql }) => READS.test(sql) && !CHANGING.test(sql))) {
    const plain = await ours.answer(statement);
    if (plain.error !== '') continue;
    for (const [spelling, sql] of await spelledOtherwise(statement.sql)) {
      const mine = await ours.answer({ ...statement, sql });
      count += 1;
      if (mine.error === '' && mine.rows.join() === plain.rows.join()) continue;
      // A spelling may mean nothing: two columns of a query in FROM have one name.
      const real = await theirs.answer({ ...statement, sql });
      if (mine.error !== real.error || mine.error === '')
        different.push(`${statement.number} ${spelling}: ${mine.message}`);
    }
  }
  await Promise.all([ours.close(), theirs.close()]);
  expect(different).toEqual([]);
  expect(count).toBeGreaterThan(1_000);
}, 600_000);
