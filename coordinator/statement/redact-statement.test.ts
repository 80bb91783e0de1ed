import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import type { Parameters } from './parameters.ts';
import { beginsPrivately, isPrivateKind } from '#shared/sql/private-statement.ts';
import { readStatement } from '../prepare/read-statement.ts';
import { redactError, redactMessage, redactStatement, type RedactedStatement } from './redact-statement.ts';

const LIMITS = { bytesMax: 1e6, depthMax: 100 };

const redacted = (sql: string, parameters: Parameters | null = null): RedactedStatement =>
  readStatement({ sql, parameters, limits: LIMITS }).redacted;

const positional = (...values: string[]): Parameters => ({
  kind: 'positional',
  values: values.map((value) => ({ type: null, value })),
});

test.each([
  [`CREATE USER a EMAIL='a@x' PASSWORD="Hunter2"`, 'CREATE USER a EMAIL *** PASSWORD ***'],
  ['CREATE USER a EMAIL = x PASSWORD = Hunter2 COMMENT = b', 'CREATE USER a EMAIL *** PASSWORD *** COMMENT ***'],
  ['create user if not exists "A b" passwrd \'Hunter2\'', 'create user if not exists "A b" ***'],
  ['CREATE USER a PASSWORD Hunter2!CASCADE', 'CREATE USER a PASSWORD ***'],
  ['CREATE USER a PASSWORD = Cascade CASCADE', 'CREATE USER a PASSWORD *** CASCADE'],
  ['CREATE USER a PASSWRD Cascade', 'CREATE USER a ***'],
  ["CREATE USER 'Hunter2' PASSWORD 'x'", 'CREATE USER *** PASSWORD ***'],
  ["/* Hunter2 */ CREATE -- Hunter2\n USER a /* Hunter2 */ PASSWORD 'x'", 'CREATE USER a PASSWORD ***'],
  ["ALTER USER SELF SET PASSWORD 'n' OLD PASSWORD 'o'", 'ALTER USER SELF SET PASSWORD *** OLD PASSWORD ***'],
  ['ALTER USER a UNSET PASSWORD, EMAIL', 'ALTER USER a UNSET PASSWORD *** EMAIL'],
  ["ALTER USER SELF DISABLE MFA WITH TOTP CODE '123456'", 'ALTER USER SELF DISABLE MFA WITH TOTP CODE ***'],
  ["REDEEM INVITATION 'tok' WITH PASSWORD 'new'", 'REDEEM INVITATION *** WITH PASSWORD ***'],
  ['REDEEM INVITATION tok WITH PASSWORD new', 'REDEEM INVITATION *** WITH PASSWORD ***'],
  ['REDEEM TOKEN tok', 'REDEEM TOKEN ***'],
  ["CREATE PERSONAL ACCESS TOKEN ci TTL '9 days'", 'CREATE PERSONAL ACCESS TOKEN ci TTL ***'],
  ["CREATE OR REPLACE PERSONAL ACCESS TOKEN ci SCOPE 's'", 'CREATE OR REPLACE PERSONAL ACCESS TOKEN ci SCOPE ***'],
  [
    "ALTER SERVICE ACCOUNT s ADD KEYPAIR KEY_ID 'k' PUBLIC_KEY 'PEM' ALGORITHM RS256",
    'ALTER SERVICE ACCOUNT s ADD KEYPAIR KEY_ID *** PUBLIC_KEY *** ALGORITHM ***',
  ],
  ["CREATE WEBHOOK w SECRET = 'open", 'CREATE WEBHOOK w SECRET ***'],
  ["CREATE WEBHOOK w URL='u' SECRET=E'a\\'b' EVENTS ('a', 'b')", 'CREATE WEBHOOK w URL *** SECRET *** EVENTS ***'],
  [
    "CREATE IDENTITY PROVIDER p ISSUER 'u' CLIENT_ID 'c' CLIENT_SECRET = 'Hunter2' AUDIENCES ('a') ENABLED",
    'CREATE IDENTITY PROVIDER p ISSUER *** CLIENT_ID *** CLIENT_SECRET *** AUDIENCES *** ENABLED',
  ],
  ["CREATE IDENTITI PROVIDR p CLIENT_SECRET = 'Hunter2'", 'CREATE ***'],
  ["ALTER SERVICE ACCOUNT s SET TRUST OF p WHERE 'sub' = 'Hunter2'", 'ALTER SERVICE ACCOUNT s SET TRUST OF ***'],
  ["EXPLAIN (ANALYZE, FORMAT JSON) CREATE USER a PASSWORD 'x'", 'EXPLAIN *** CREATE USER a PASSWORD ***'],
  ["PREPARE p(INT, DATE) AS CREATE USER a PASSWORD 'x'", 'PREPARE *** AS CREATE USER a PASSWORD ***'],
  ["PREPARE p AS PREPARE q AS CREATE USER a PASSWORD 'x'", 'PREPARE *** PREPARE *** CREATE USER a PASSWORD ***'],
  ["SELECT 1; CREATE USER a PASSWORD 'x'", '*** CREATE USER a PASSWORD ***'],
  ["'CREATE USER a PASSWORD x", '***'],
  ["CREATE 'USER' a PASSWORD 'x'", 'CREATE ***'],
  ['GRANT ROLE r TO USER u -- Hunter2', 'GRANT ROLE r TO USER u'],
  ['REVOKE ROLE r FROM SERVICE ACCOUNT s /* Hunter2 */', 'REVOKE ROLE r FROM SERVICE ACCOUNT s'],
  ['GRANT MANAGE SERVICE ACCOUNTS TO USER u', 'GRANT MANAGE SERVICE ACCOUNTS TO USER u'],
  ["GRANT MANAGE 'Hunter2'", 'GRANT MANAGE ***'],
  ["CREATE ROLE r COMMENT 'Hunter2'", 'CREATE ROLE r COMMENT ***'],
  ["ALTER ROLE r SET SCOPE 'Hunter2", 'ALTER ROLE r SET SCOPE ***'],
  ["SHOW USERS LIKE 'a%' /* Hunter2 */", 'SHOW USERS LIKE ***'],
  ["ALTER USR a SET PASSWORD = 'Hunter2'", 'ALTER *** SET PASSWORD ***'],
  ["CREAT USR a; CREATE USR a EMAIL 'b' PASSWORD 'Hunter2", '*** CREATE *** EMAIL *** PASSWORD ***'],
  ['CREATE WEBHOK w URL \'u\' SECRET "Hunter2"', 'CREATE *** URL *** SECRET ***'],
  ["REDEEM INVITATON 'Hunter2' WITH PASSWORD 'Hunter3'", 'REDEEM *** WITH PASSWORD ***'],
  ["EXPLAIN ALTER SERVIC ACOUNT s ADD KEYPAIR PUBLIC_KEY 'Hunter2'", 'EXPLAIN ALTER *** KEYPAIR PUBLIC_KEY ***'],
  ["ALTR KEY '-----BEGIN PRIVATE KEY-----Hunter2'", '***'],
  ["SHOW AUDIT LOG LIKE 'x' LIMIT 5", 'SHOW AUDIT LOG LIKE *** LIMIT ***'],
])('of %s stay keywords and one name', (sql, kept) => {
  expect(redacted(sql).text).toBe(kept);
});

test.each([
  "SELECT * FROM tokens WHERE status = 'abc'",
  "SELECT token, 'x' AS password FROM user WHERE secret = 'abc'",
  "DROP TABLE IF EXISTS token -- 'abc'",
  'CREATE TABLE user (token INT)',
  'COMMENT ON TABLE account IS $$ a secret $$',
  "SHOW TABLES LIKE 'password'",
  "EXPLAIN SELECT token FROM t WHERE a = 'x'",
  "PREPARE p AS SELECT token, 'secret' FROM user WHERE a = $1",
  "INSERT INTO t VALUES ('the user''s secret token')",
  "DESCRIBE SELECT 'x' AS token",
  "NONSENSE about 'a' password, and of b user",
  "CREATE TABL t (password VARCHAR DEFAULT 'x')",
  "SELEC * FROM t WHERE password = 'abc'",
])('%s stays as it was submitted, and so do its errors', (sql) => {
  const kept = redacted(sql);
  expect(kept).toEqual({ text: sql, secrets: [] });
  expect(redactMessage(`the value 'abc' of "${sql}"`, kept)).toBe(`the value 'abc' of "${sql}"`);
});

test('commands whose words name users, accounts, tokens, invitations or webhooks are private', () => {
  expect(isPrivateKind(['CREATE PERSONAL ACCESS TOKEN'])).toBe(true);
  expect(isPrivateKind(['SHOW USERS', 'ALTER USER'])).toBe(true);
  expect(isPrivateKind(['CREATE TABLE', 'SHOW'])).toBe(false);
});

test('a kind of object is looked for among the first four words', () => {
  expect(beginsPrivately('a b c user')).toBe(true);
  expect(beginsPrivately('a b c d user')).toBe(false);
  expect(beginsPrivately('a b c d; (; e "f" user')).toBe(true);
});

test.each([
  ["/* x */ ;EXECUTE p('hunter2', 1)", null, "/* x */ ;EXECUTE p('***', 1)", ['hunter2']],
  ["EXECUTE p('hunter2', ", null, "EXECUTE p('***', ", ['hunter2']],
  ["EXECUTE p('it''s', $$s3cret$$, e'b\\'c', x'1f', \"t\")", null, undefined, ["it's", 's3cret', "b'c", '1f']],
  ["EXECUTE p('s3c'\n'ret', 'open", null, "EXECUTE p('***', '***'", ['s3cret', 'open']],
  ['SELECT CAST($1 AS INTEGER) AS password', positional('hunter2'), 'SELECT CAST($1 AS INTEGER) AS password', []],
  ['CREATE USER a PASSWORD $1', positional('hunter2'), 'CREATE USER a PASSWORD ***', null],
] as const)('history keeps no value of %s', (sql, parameters, text, secrets) => {
  const kept = redacted(sql, parameters);
  expect(kept.secrets).toEqual(secrets);
  expect(kept.text).toBe(text ?? "EXECUTE p('***', '***', '***', '***', \"t\")");
});

describe('messages', () => {
  test.each([
    ["EXECUTE p('hunter2')", `syntax error at "'hunter2'" (column 1)`, "syntax error at '***' (column 1)"],
    ["EXECUTE p('hunter2')", `syntax error at "'hun..." (column 1)`, "syntax error at '***' (column 1)"],
    ["EXECUTE p('hunter2')", `syntax error at "hun`, "syntax error at '***'"],
    ["EXECUTE p('hunter2')", 'hunter2 is wrong', '*** is wrong'],
    ["EXECUTE p(E'hunt\\x65r\\062')", 'hunter2 is wrong', '*** is wrong'],
    ["EXECUTE p('hunt' --\n'er2')", 'hunter2 is wrong', '*** is wrong'],
    ['CREATE USER a PASSWORD Hunter2', 'hunter2 and HUNTER2 are weak', '*** and *** are weak'],
    ['CREATE USER a PASSWORD Hunter2', 'CREATE is not served', 'CREATE is not served'],
    [`CREATE USER a PASSWORD '${'hunter2'.repeat(1_000)}'`, 'hunter2hunter2 [... cut ...]', "'***'"],
    [`EXECUTE p(${Array.from({ length: 2_000 }, (_, i) => `'x${i}'`).join()})`, 'a message', "'***'"],
  ])('%#: %2$s', (sql, message, expected) => {
    expect(redactMessage(message, redacted(sql))).toBe(expected);
  });

  test('an error in the log has neither the value nor its cause', () => {
    const cause = new Error('hunter2');
    const error = new SkeinError('INTERNAL_ERROR', 'hunter2\nis wrong', { cause });
    const logged = redactError(error, redacted('CREATE USER a PASSWORD Hunter2'));
    expect(logged).toMatchObject({ code: 'INTERNAL_ERROR', message: '***\nis wrong' });
    expect(logged.cause).toBeUndefined();
    expect(logged.stack).toMatch(/^SkeinError: \*\*\*\nis wrong\n {4}at .*redact-statement\.test\.ts/);
    expect(redactError(error, redacted("SELECT 'hunter2'"))).toBe(error);
  });
});

/** A secret begins with a letter, so that it may stand bare, and is no keyword. */
const SECRET = fc.stringMatching(/^[A-Za-z][A-Za-z0-9]{2,7}[0-9][A-Za-z0-9]{2,8}$/);
const SPELLINGS: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => `'${secret}'`,
  (secret) => `"${secret}"`,
  (secret) => `$$${secret}$$`,
  (secret) => `$x$${secret}$x$`,
  (secret) => `E'\\x${secret.charCodeAt(0).toString(16)}${secret.slice(1)}'`,
  (secret) => `'${secret.slice(0, 3)}'\n'${secret.slice(3)}'`,
  (secret) => `x'${secret}'`,
  (secret) => `'${secret}`,
  (secret) => `"${secret}`,
  (secret) => `$$${secret}`,
  (secret) => `it's''${secret}`,
  (secret) => `!${secret}#CASCADE`,
  (secret) => `(${secret}, ${secret})`,
  (secret) => `'x' ${secret}`,
  (secret) => `-- ${secret}\n${secret} /* ${secret} */`,
  (secret) => `/* ${secret}`,
  (secret) => `= = ${secret}`,
  (secret) => `{${secret}: '${secret}'}`,
];
const OPTIONS = ['PASSWORD', 'password', 'PASSWRD', 'SECRET', 'SECRETT', 'OLD PASSWORD', 'EMAIL', 'WITH CODE', 'x', ''];
const BEGINNINGS = [
  'CREATE USER a',
  'create user IF NOT EXISTS "a"',
  'CREATE OR REPLACE USER a',
  'ALTER USER a SET',
  'ALTER USER SELF',
  'ALTER USER SELF VERIFY MFA TOTP',
  'ALTER USER SELF DISABLE MFA WITH TOTP',
  'REDEEM INVITATION',
  'CREATE SERVICE ACCOUNT s',
  'ALTER SERVICE ACCOUNT s ADD KEYPAIR',
  'CREATE PERSONAL ACCESS TOKEN t FOR a',
  'CREATE WEBHOOK w URL',
  'NEW TOKEN (',
  'SHOW NONSENSE USER a WHERE',
  'CREATE TABLE token (',
];
const AROUND: readonly ((sql: string) => string)[] = [
  (sql) => sql,
  (sql) => `EXPLAIN ANALYZE ${sql}`,
  (sql) => `EXPLAIN (FORMAT JSON, ANALYZE) ${sql}`,
  (sql) => `PREPARE p(INT) AS ${sql}`,
  (sql) => `SELECT 1; ${sql}`,
  (sql) => `;${sql}; SELECT 1`,
  (sql) => `/* ' */ ${sql} -- "`,
];

test('no spelling of a statement about users leaves a secret in what is stored', () => {
  const option = fc.record({
    name: fc.constantFrom(...OPTIONS),
    sign: fc.constantFrom(' = ', '=', ' ', '\t'),
    spell: fc.constantFrom(...SPELLINGS),
  });
  const statement = fc.record({
    secret: SECRET,
    beginning: fc.constantFrom(...BEGINNINGS),
    options: fc.array(option, { minLength: 1, maxLength: 4 }),
    around: fc.constantFrom(...AROUND),
  });
  fc.assert(
    fc.property(statement, ({ secret, beginning, options, around }) => {
      const written = options.map(({ name, sign, spell }) => `${name}${sign}${spell(secret)}`);
      const sql = around([beginning, ...written].join(' '));
      const read = readStatement({ sql, parameters: null, limits: LIMITS });
      const messages = [
        read.parsed.kind === 'refused' ? read.parsed.error.message : '',
        `${secret} is refused`,
        `the user has ${secret.toLowerCase()}, and ${secret.toUpperCase()}`,
        `syntax error at "${secret.slice(0, 4)}..." (line 1)`,
      ];
      const stored = [read.redacted.text, ...messages.map((message) => redactMessage(message, read.redacted))];
      for (const text of stored) expect(text.toLowerCase()).not.toContain(secret.toLowerCase());
    }),
    { numRuns: 500 },
  );
});

test('a long statement about users takes no longer than its text is long', () => {
  const before = process.threadCpuUsage();
  expect(redactStatement(`CREATE USER a ${'PASSWORD x '.repeat(300_000)}`, 'private').text).toHaveLength(100_003);
  expect(redactStatement(`CREATE USER a ${"'x' ".repeat(300_000)}`, 'private').text).toBe('CREATE USER a ***');
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(3_000);
});
