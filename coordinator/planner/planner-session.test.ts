import { expect, test } from 'vitest';
import { blankContext } from '#shared/sql/statement-context.ts';
import { PlannerSession } from './planner-session.ts';

const MEMORY_BYTES = 48 * 2 ** 20;
const context = blankContext('UTC');

test('a statement that takes more memory than a planner has is too complex, whichever part of DuckDB notices', async () => {
  const session = await PlannerSession.open(MEMORY_BYTES);
  const tooComplex = { code: 'STATEMENT_TOO_COMPLEX', message: 'the statement needs too much memory to plan' };
  const long = `SELECT 1${' UNION ALL SELECT 1'.repeat(20_000)}`;
  await expect(session.parse({ sql: long, defaults: { catalog: '', schema: '' }, context })).rejects.toMatchObject(
    tooComplex,
  );
  // The connection works as before.
  const plain = { sql: 'SELECT 1', scans: [], context, contextual: false };
  expect((await session.plan(plain)).columns).toHaveLength(1);
});
