import { join } from 'node:path';
import { Client } from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { SCOPES } from '#shared/authorization/token-claims.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { statementOutcomes } from '#test/support/statement-outcomes.ts';

/**
 * SQL statements by users whose scopes come from a role that lacks one of them. The outcomes are written down in `statement-scopes.txt`:
 * `done`, or the SQLSTATE of the refusal.
 */
const T = 'role_scopes';
const ALL = Object.keys(SCOPES);
const CALLERS = ['all', 'none', ...ALL.map((scope) => `without ${scope}`)] as const;
const nameOf = (caller: string): string => caller.replaceAll(/[ :]/g, '_');

/** A statement, and those that make its success undone. */
const STATEMENTS: readonly (readonly [sql: string, ...undo: readonly string[]])[] = [
  ['SELECT 1'],
  [`SET TimeZone = 'UTC'`],
  ['SHOW CATALOGS'],
  [`USE CATALOG ${T}`],
  [`SHOW SCHEMAS FROM ${T}`],
  [`SHOW TABLES FROM ${T}.s`],
  [`DESCRIBE ${T}.s.t`],
  [`SHOW CREATE VIEW ${T}.s.v`],
  [`SELECT * FROM ${T}.s.t`],
  [`SELECT * FROM ${T}.s.v`],
  [`EXPLAIN SELECT * FROM ${T}.s.t`],
  [`SELECT * FROM ${T}.information_schema.tables`],
  ['SHOW QUERY HISTORY'],
  ['SHOW RESOURCE GROUPS'],
  ['SHOW ROLES'],
  [`INSERT INTO ${T}.s.t VALUES (2)`],
  [`UPDATE ${T}.s.t SET a = 3 WHERE a = 2`],
  [`DELETE FROM ${T}.s.t WHERE a = 3`],
  [`CREATE TABLE ${T}.s.n (a INT)`, `DROP TABLE ${T}.s.n`],
  [`CREATE TABLE ${T}.s.n AS SELECT 1 AS a`, `DROP TABLE ${T}.s.n`],
  [`ALTER TABLE ${T}.s.t ADD COLUMN b INT`, `ALTER TABLE ${T}.s.t DROP COLUMN b`],
  [`OPTIMIZE ${T}.s.t`],
  [`DROP TABLE ${T}.s.d`, `CREATE TABLE ${T}.s.d (a INT)`],
  [`CREATE VIEW ${T}.s.n AS SELECT a FROM ${T}.s.t`, `DROP VIEW ${T}.s.n`],
  [`DROP VIEW ${T}.s.e`, `CREATE VIEW ${T}.s.e AS SELECT 1 AS a`],
  [`CREATE SCHEMA ${T}.n`, `DROP SCHEMA ${T}.n`],
  [`ALTER SCHEMA ${T}.d RENAME TO e`, `ALTER SCHEMA ${T}.e RENAME TO d`],
  [`DROP SCHEMA ${T}.d`, `CREATE SCHEMA ${T}.d`],
  [`CREATE CATALOG ${T}_2`, `DROP CATALOG ${T}_2`],
  [`ALTER CATALOG ${T}_a RENAME TO ${T}_b`, `ALTER CATALOG ${T}_b RENAME TO ${T}_a`],
  [`CREATE STAGE ${T}.s.n`, `DROP STAGE ${T}.s.n`],
  [`ALTER STAGE ${T}.s.box RENAME TO bin`, `ALTER STAGE ${T}.s.bin RENAME TO box`],
  [`DROP STAGE ${T}.s.box`, `CREATE STAGE ${T}.s.box`],
  ['SHOW ROW POLICIES'],
  ['SHOW MASKING POLICIES'],
  [`SELECT * FROM ${T}.information_schema.policy_references`],
  ['USE ROLE public'],
  [`SELECT * FROM ${T}.s.policed`],
  [`INSERT INTO ${T}.s.policed VALUES (2)`],
  [`DELETE FROM ${T}.s.policed WHERE a = 1`],
  [`DESCRIBE ROW ACCESS POLICY ${T}.s.p`],
  [`CREATE ROW ACCESS POLICY ${T}.s.n AS (x INT) RETURNS BOOLEAN -> x = 1`, `DROP ROW ACCESS POLICY ${T}.s.n`],
  [`ALTER ROW ACCESS POLICY ${T}.s.p SET BODY -> x = 1`],
  [`DROP ROW ACCESS POLICY ${T}.s.q`, `CREATE ROW ACCESS POLICY ${T}.s.q AS (x INT) RETURNS BOOLEAN -> x = 1`],
  [
    `ALTER TABLE ${T}.s.t ADD ROW ACCESS POLICY ${T}.s.p ON (a)`,
    `ALTER TABLE ${T}.s.t DROP ROW ACCESS POLICY ${T}.s.p`,
  ],
  [`ALTER TABLE ${T}.s.t DROP ALL ROW ACCESS POLICIES`],
  [
    `ALTER TABLE ${T}.s.t ALTER COLUMN a SET MASKING POLICY ${T}.s.k`,
    `ALTER TABLE ${T}.s.t ALTER COLUMN a UNSET MASKING POLICY`,
  ],
  ['GRANT MANAGE POLICIES TO USER none', 'REVOKE MANAGE POLICIES FROM USER none'],
  ['GRANT BYPASS POLICIES TO USER none', 'REVOKE BYPASS POLICIES FROM USER none'],
];

let outcome: ReturnType<typeof statementOutcomes>;
async function asRoot(...statements: readonly string[]): Promise<void> {
  for (const sql of statements) expect([sql, await outcome('root', sql)]).toEqual([sql, 'done']);
}

beforeAll(async () => {
  const { cluster, databaseUrl } = await sharedCluster();
  outcome = statementOutcomes(cluster, T);
  await cluster.cliOk(['admin', 'tenant', 'create', T, '--user', 'root']);
  await cluster.cliOk(['admin', 'catalog', 'create', T, '--tenant', T]);
  await asRoot(
    `CREATE CATALOG ${T}_a`,
    `CREATE SCHEMA ${T}.s`,
    `CREATE SCHEMA ${T}.d`,
    `CREATE TABLE ${T}.s.t AS SELECT 1 AS a`,
    `CREATE TABLE ${T}.s.d (a INT)`,
    `CREATE VIEW ${T}.s.v AS SELECT a FROM ${T}.s.t`,
    `CREATE STAGE ${T}.s.box`,
    `CREATE VIEW ${T}.s.e AS SELECT 1 AS a`,
    `CREATE TABLE ${T}.s.policed AS SELECT 1 AS a`,
    `CREATE ROW ACCESS POLICY ${T}.s.p AS (x INT) RETURNS BOOLEAN -> x = 1`,
    `CREATE ROW ACCESS POLICY ${T}.s.q AS (x INT) RETURNS BOOLEAN -> x = 1`,
    `CREATE MASKING POLICY ${T}.s.k AS (x INT) RETURNS INT -> 0`,
    `ALTER TABLE ${T}.s.policed ADD ROW ACCESS POLICY ${T}.s.p ON (a)`,
    `ALTER ROLE public SET SCOPE ''`,
  );
  for (const caller of CALLERS) {
    const scopes = caller === 'none' ? [] : ALL.filter((scope) => caller !== `without ${scope}`);
    const name = nameOf(caller);
    await asRoot(
      `CREATE ROLE r_${name} SCOPE '${scopes.join(' ')}'`,
      `CREATE USER ${name} EMAIL '${name}@example.org' DEFAULT_ROLE r_${name}`,
    );
  }
  // None of them shows a password, whose hash would take longer than the rest.
  const database = new Client(databaseUrl);
  await database.connect();
  await database.query(`UPDATE catalog.principal SET status = 'ACTIVE' WHERE status = 'INVITED'
    AND tenant_id = (SELECT id FROM catalog.tenant WHERE name = '${T}')`);
  await database.end();
});

test('each statement, by users whose role lacks one scope', { timeout: 300_000 }, async () => {
  const lines: string[] = [];
  for (const [sql, ...undo] of STATEMENTS) {
    const outcomes: (readonly [string, string])[] = [];
    for (const caller of CALLERS) {
      const found = await outcome(nameOf(caller), sql);
      if (found === 'done') await asRoot(...undo);
      outcomes.push([caller, found]);
    }
    lines.push(
      sql,
      ...outcomes.filter(([, found]) => found !== 'done').map(([caller, found]) => `  ${caller}: ${found}`),
    );
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(join(import.meta.dirname, 'statement-scopes.txt'));
});
