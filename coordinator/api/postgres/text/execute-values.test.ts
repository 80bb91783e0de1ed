import { expect, test } from 'vitest';
import type { SqlType } from '../../../plan/sql-type.ts';
import { applyEdits } from '../../../statement/bind-parameters.ts';
import { executeValues } from './execute-values.ts';

const BYTES: SqlType = { kind: 'scalar', name: 'BLOB' };
const TEXTS: SqlType = { kind: 'list', element: { kind: 'scalar', name: 'VARCHAR' } };
const parameter = (type: SqlType | null, name: string) => ({ name, isUsed: true, declared: null, type });
const KNOWN = {
  sql: 'SELECT $1, $2, $3, $4::int[]',
  parameters: [
    parameter(BYTES, '1'),
    parameter(TEXTS, '2'),
    parameter({ kind: 'scalar', name: 'VARCHAR' }, '3'),
    parameter(null, '4'),
  ],
};
const find = (name: string): typeof KNOWN | undefined => (name === 'p' ? KNOWN : undefined);

test.each([
  [
    `EXECUTE p('\\x00fF', '{"a,b",NULL}', '{x}', '{1,2}')`,
    `EXECUTE p(from_hex('00ff'), ARRAY['a,b', NULL], '{x}', ARRAY['1', '2'])`,
  ],
  [`execute "p" ( NULL , f('{a}', '{b}') , '{x}' , '{}' )`, `execute "p" ( NULL , f('{a}', '{b}') , '{x}' , ARRAY[] )`],
  [`EXECUTE p(('\\x00'), '{a}'::text[], '\\x00', 'x')`, null],
  [`EXECUTE q('\\x00', '{a}')`, null],
  [`EXECUTE p('\\x00', '{a}'`, null],
  [`SELECT p('\\x00')`, null],
])('%s', (sql, expected) => {
  expect(applyEdits(sql, executeValues(sql, find)).text).toBe(expected ?? sql);
});
