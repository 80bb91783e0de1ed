import { expect, test } from 'vitest';
import { rowEncoding } from './row-encoding.ts';

test('the text for few rows prints each value in one way, that for many has a fast form', () => {
  const columns = [{ name: 'n', typeName: 'BIGINT', type: { kind: 'scalar', name: 'BIGINT' } as const }];
  const [[few] = [], [many] = []] = [2_500, 2_501].map((rows) =>
    rowEncoding('json', { columns, timeZone: 'UTC' }, rows).sql(['SELECT 1']),
  );
  expect(few).toContain('json_array(CASE WHEN c0 BETWEEN');
  expect(many).toContain('THEN json_array(c0) ELSE json_array(CASE WHEN c0 BETWEEN');
});
