import { expect, test } from 'vitest';
import { toolStatements } from '#test/support/tool-statements.ts';
import { translatePostgres } from './translate-postgres.ts';

const STATEMENTS = toolStatements().map(({ sql }) => sql);

test('each query that tools send is written anew, and has columns that are known', async () => {
  expect(STATEMENTS).toHaveLength(271);
  const left: string[] = [];
  for (const text of STATEMENTS) {
    // Parameters have values when a query is prepared.
    const sql = text.replaceAll(/\$\d+/g, 'NULL');
    if (!/^\s*(?:select|with|\()/i.test(sql)) continue;
    const written = await translatePostgres({ sql, values: [], catalog: 'lake' });
    if (written?.columns == null) left.push(text.slice(0, 60));
  }
  expect(left).toMatchInlineSnapshot(`
    [
      "SELECT pg_advisory_unlock_all();
    CLOSE ALL;
    UNLISTEN *;
    RESE",
    ]
  `);
});
