import { expect, test } from 'vitest';
import { principalId, tenantId } from '#shared/id.ts';
import { blankContext } from '#shared/sql/statement-context.ts';
import { sessionPlanner } from '#test/support/session-planner.ts';
import { applyEdits, bindParameters, valuePlaces } from '../statement/bind-parameters.ts';
import { postgresQuery } from './postgres-query.ts';

test('a list that is the value of a parameter is no syntax of Postgres, and stays as it is', async () => {
  const sql = "SELECT t.oid, 'ä' FROM pg_type t WHERE t.typname <> $2 AND t.oid = any($1::oid[])";
  const values = [
    { type: 'BIGINT[]', value: ['1007', null] },
    { type: 'VARCHAR', value: '[x]' },
  ];
  const edits = bindParameters(sql, { kind: 'positional', values }, 10_000);
  const asked = {
    planner: await sessionPlanner(),
    context: blankContext('UTC'),
    asker: { tenant: tenantId('t'), principal: principalId('p') },
    signal: new AbortController().signal,
  };
  const written = await postgresQuery(applyEdits(sql, edits).text, valuePlaces(edits), asked);
  expect(written?.text.text).toContain("CAST([('1007'), NULL] AS BIGINT[])");
  expect(written?.text.text).toContain("CAST(('[x]') AS VARCHAR)");
  expect(written?.columns?.[0]?.name).toBe('oid');
});
