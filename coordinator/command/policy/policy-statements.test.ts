import { describe, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { parseStatement } from '../../prepare/parse-statement.ts';

const LIMITS = { bytesMax: 100_000, depthMax: 100 };

function parsed(text: string): object {
  return parseStatement(text, LIMITS);
}
function failure(text: string): readonly [code: string, rest: string] {
  try {
    parsed(text);
  } catch (error) {
    if (error instanceof SkeinError) return [error.code, text.slice(error.position ?? 0)];
    throw error;
  }
  throw new Error(`accepted: ${text}`);
}

describe('statements about policies', () => {
  test('CREATE: kinds, names, arguments and the body as it is written', () => {
    const text = `create or replace row access policy "A".s.p AS (r VARCHAR, "N n" decimal(10, 2)) returns boolean -> r = 'a -> b' -- c`;
    expect(parsed(text)).toMatchObject({
      command: 'createPolicy',
      input: {
        policyKind: 'row_access',
        orReplace: true,
        ifNotExists: false,
        name: { parts: ['A', 's', 'p'] },
        arguments: [
          { name: 'r', type: 'VARCHAR' },
          { name: 'N n', type: 'DECIMAL(10,2)' },
        ],
        returns: 'BOOLEAN',
        body: { text: expect.stringMatching(/^r = 'a -> b'/), offset: text.indexOf("r = 'a") },
      },
    });
    expect(parsed('CREATE MASKING POLICY IF NOT EXISTS m AS (val BIGINT) RETURNS BIGINT -> 0')).toMatchObject({
      command: 'createPolicy',
      input: { policyKind: 'masking', ifNotExists: true, orReplace: false },
    });
  });

  test.each([
    ['CREATE OR REPLACE MASKING POLICY IF NOT EXISTS m AS (v INT) RETURNS INT -> v', 'SYNTAX_ERROR', 'm AS'],
    ['CREATE ROW ACCESS POLICY p AS () RETURNS BOOLEAN -> true', 'SYNTAX_ERROR', ') RET'],
    ['CREATE ROW ACCESS POLICY p AS (a INT, A INT) RETURNS BOOLEAN -> true', 'SYNTAX_ERROR', 'A INT'],
    ['CREATE ROW ACCESS POLICY p AS (a INT) RETURNS INT -> a', 'TYPE_MISMATCH', 'INT -> a'],
    ['CREATE MASKING POLICY p AS (a INT, b VARCHAR) RETURNS VARCHAR -> b', 'TYPE_MISMATCH', 'VARCHAR -> b'],
    ['CREATE ROW ACCESS POLICY p AS (a TIMESTAMPTZ) RETURNS BOOLEAN -> true', 'NOT_SUPPORTED', 'TIMESTAMPTZ'],
    ['CREATE ROW ACCESS POLICY p AS (a INT) RETURNS BOOLEAN', 'SYNTAX_ERROR', ''],
    ['CREATE ROW ACCESS POLICY p AS (a INT) RETURNS BOOLEAN true', 'SYNTAX_ERROR', 'true'],
    ['CREATE ROW POLICY p AS (a INT) RETURNS BOOLEAN -> true', 'NOT_SUPPORTED', ''],
    ['DROP ROW ACCESS POLICY p CASCADE', 'SYNTAX_ERROR', 'CASCADE'],
    ['ALTER MASKING POLICY p RENAME TO q', 'SYNTAX_ERROR', 'RENAME'],
    ['ALTER TABLE t ADD ROW ACCESS POLICY p', 'SYNTAX_ERROR', ''],
    ['ALTER TABLE t ADD ROW ACCESS POLICY p ON ()', 'SYNTAX_ERROR', ')'],
    ['ALTER TABLE t ALTER COLUMN s.c SET MASKING POLICY p', 'SYNTAX_ERROR', ''],
    ['ALTER TABLE t ADD ROW ACCESS POLICY p ON (a), ADD COLUMN b INT', 'SYNTAX_ERROR', ', ADD'],
  ])('%s is %s', (text, code, at) => {
    const [found, rest] = failure(text);
    expect(found).toBe(code);
    expect(rest).toContain(at);
  });

  test('a body and a signature have limits', () => {
    const args = (count: number): string => Array.from({ length: count }, (_, i) => `a${i} INT`).join(', ');
    expect(parsed(`CREATE ROW ACCESS POLICY p AS (${args(16)}) RETURNS BOOLEAN -> true`)).toBeDefined();
    const [code] = failure(`CREATE ROW ACCESS POLICY p AS (${args(17)}) RETURNS BOOLEAN -> true`);
    expect(code).toBe('STATEMENT_TOO_COMPLEX');
  });

  test('ALTER TABLE: each binding alone', () => {
    const edit = (text: string): unknown => (parsed(text) as { readonly input: object }).input;
    expect(edit('ALTER TABLE a.t ADD ROW ACCESS POLICY s.p ON (b, "C")')).toMatchObject({
      name: { parts: ['a', 't'] },
      action: {
        kind: 'policy',
        edit: { kind: 'bind', policyKind: 'row_access', columns: [{ parts: ['b'] }, { parts: ['C'] }] },
      },
    });
    expect(edit('ALTER TABLE t ALTER c SET MASKING POLICY p')).toMatchObject({
      action: {
        kind: 'policy',
        edit: { kind: 'bind', policyKind: 'masking', columns: [{ parts: ['c'] }, { parts: ['c'] }] },
      },
    });
    expect(edit('ALTER TABLE t ALTER COLUMN c SET MASKING POLICY p USING (c, d)')).toMatchObject({
      action: { kind: 'policy', edit: { columns: [{ parts: ['c'] }, { parts: ['c'] }, { parts: ['d'] }] } },
    });
    expect(edit('ALTER TABLE t ALTER COLUMN c UNSET MASKING POLICY')).toMatchObject({
      action: { kind: 'policy', edit: { kind: 'unmask' } },
    });
    expect(edit('ALTER TABLE t DROP ALL ROW ACCESS POLICIES')).toMatchObject({
      action: { kind: 'policy', edit: { kind: 'unbind rows' } },
    });
    expect(edit('ALTER TABLE t DROP ROW ACCESS POLICY p')).toMatchObject({
      action: { kind: 'policy', edit: { kind: 'unbind row' } },
    });
  });

  test.each([
    'SHOW ROW POLICIES',
    'SHOW MASKING POLICIES',
    'DESCRIBE MASKING POLICY p',
    'DROP ROW ACCESS POLICY IF EXISTS a.b.p',
    'USE ROLE ALL',
    'USE ROLE "r"',
    'GRANT BYPASS POLICIES TO SERVICE ACCOUNT e',
    'REVOKE MANAGE POLICIES FROM USER u',
  ])('%s', (text) => expect(parsed(text)).toMatchObject({ command: expect.any(String) }));
});
