import { expect, test } from 'vitest';
import { principalId, queryId, tenantId } from '#shared/id.ts';
import type { TokenClaims } from '#shared/authorization/token-claims.ts';
import { collectGarbage } from '#test/support/collect-garbage.ts';
import { RecentRuns } from './recent-runs.ts';
import { statementShape } from './statement-shape.ts';

const claims = { tenant: tenantId('t'), sub: principalId('p'), preferred_username: 'u' } as TokenClaims;
const STATEMENT_CHARS = 2 ** 22;

test('runs that are remembered do not keep the texts of their statements', () => {
  const runs = new RecentRuns();
  const remember = (i: number): void => {
    const text = JSON.parse(`"${`SELECT ${i} + `.repeat(STATEMENT_CHARS / 10)}"`) as string;
    runs.add(queryId(`q${i}`), statementShape(claims, text, text));
  };
  remember(0);
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let i = 1; i <= 10; i++) remember(i);
  collectGarbage();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(3 * STATEMENT_CHARS);
  expect(runs.find(queryId('q7'))?.sql).toHaveLength(1_000);
});
