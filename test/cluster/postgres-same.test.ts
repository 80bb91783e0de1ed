import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { Random } from '#test/fuzz/random.ts';
import { ADMIN_PASSWORD } from '#test/support/cluster.ts';
import { startTestPostgres, type TestPostgres } from '#test/support/postgres.ts';
import { fieldsOf, int16, int32, PostgresWire, rowOf, shown, type ServerMessage } from '#test/support/postgres-wire.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { fixedSeed } from '#test/support/seed.ts';

/** The same messages to Skein and to the project's real Postgres: both answer the same bytes, but for what `compared` leaves out. */
let postgres: TestPostgres;
let ours: PostgresWire;
let theirs: PostgresWire;
const SCHEMA = `same_${process.pid}`;

beforeAll(async () => {
  const { cluster } = await sharedCluster();
  postgres = await startTestPostgres();
  const url = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  [url.username, url.password] = [cluster.ready.user, ADMIN_PASSWORD];
  [ours, theirs] = await Promise.all([opened(url.href), opened(postgres.url)]);
  await both((wire) => wire.query(`CREATE SCHEMA ${SCHEMA}; SET search_path = ${SCHEMA}`));
  await both((wire) => wire.query('CREATE TABLE t (a INTEGER, b TEXT); CREATE VIEW v AS SELECT b AS y, a AS x FROM t'));
});
afterAll(async () => {
  await ours.query(`ROLLBACK; DROP VIEW v; DROP TABLE t; DROP SCHEMA ${SCHEMA}`);
  await Promise.all([ours[Symbol.asyncDispose](), theirs[Symbol.asyncDispose]()]);
  await postgres[Symbol.asyncDispose]();
});

async function opened(connectionString: string): Promise<PostgresWire> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return PostgresWire.of(client);
}

const both = <T>(work: (wire: PostgresWire) => Promise<T>): Promise<readonly [T, T]> =>
  Promise.all([work(ours), work(theirs)]);

/** Bytes between a column's name and the next one: the number of its table, its number there, its type. */
const COLUMN_BYTES = 18;

/** Fields of an error that both have; the text, the place and where in a program it arose are each server's own. */
const FIELDS = ['S', 'V', 'C'];

/** A message as it is compared. */
function compared(message: ServerMessage): string {
  const { type, body } = message;
  if (type === 'E' || type === 'N') return `${type} ${FIELDS.map((field) => fieldsOf(body).get(field)).join(' ')}`;
  if (type === 'T') return `T ${withoutNumbers(body).toString('hex')} ${shown(message)}`;
  return `${type} ${body.toString('hex')} ${shown(message)}`;
}

/** Each server gives its tables other numbers: 1 says that the column is a table's. */
function withoutNumbers(body: Buffer): Buffer {
  const bytes = Buffer.from(body);
  for (let at = 2; at < bytes.length;) {
    const end = bytes.indexOf(0, at) + 1;
    if (bytes.readUInt32BE(end) !== 0) bytes.writeUInt32BE(1, end);
    at = end + COLUMN_BYTES;
  }
  return bytes;
}

type Step = (wire: PostgresWire) => PostgresWire;
const q =
  (sql: string): Step =>
  (wire) =>
    wire.send('Q', sql);

/** @returns the answers of both, without ParameterStatus, whose time is free */
async function answers(step: Step): Promise<readonly [ours: readonly string[], theirs: readonly string[]]> {
  return both(async (wire) => {
    const messages = await step(wire).messages();
    return messages.filter(({ type }) => type !== 'S').map(compared);
  });
}

const SERIES = 'SELECT i::INTEGER AS i FROM generate_series(1, 5) AS g(i) ORDER BY i';

const SCRIPT: readonly (readonly [what: string, step: Step])[] = [
  ['an empty query', q('')],
  ['only empty statements', q(' ; ;')],
  ['several statements', q("SELECT 1 AS a; SELECT 'x' AS b, NULL::TEXT AS c")],
  ['an error among them', q('SELECT 1 AS a; SELECT nothing; SELECT 2 AS a')],
  ['a syntax error', q('SELEC 1')],
  [
    'rows of every common type',
    q("SELECT true AS b, 7::SMALLINT AS s, 7::BIGINT AS l, 1.50::NUMERIC(9,2) AS n, 'x'::TEXT AS t"),
  ],
  ['dates and times', q("SELECT DATE '2024-02-29' AS d, TIMESTAMP '2024-02-29 12:34:56.5' AS t, TIME '01:02:03' AS c")],
  ['a count', q("INSERT INTO t VALUES (1, 'a'), (2, NULL)")],
  ['an update', q('UPDATE t SET b = NULL WHERE a = 1')],
  ['a delete of nothing', q('DELETE FROM t WHERE a = 99')],
  ['columns of a table', q('SELECT b, a + 1 AS c, a AS k FROM t ORDER BY a')],
  [
    'columns of no rows',
    q('SELECT t.*, s.m FROM t JOIN (SELECT a, max(b) AS m FROM t GROUP BY a) AS s USING (a) LIMIT 0'),
  ],
  ['columns of a view, and of WITH', q('WITH w AS (SELECT * FROM v) SELECT w.x, v.y FROM w, v WHERE false')],
  ['columns of a set operation', q('SELECT a FROM t UNION SELECT a FROM t ORDER BY a')],
  [
    'columns of a prepared statement',
    (w) =>
      w
        .parse('', 'SELECT b, a FROM t WHERE a = $1', [23])
        .describe('S', '')
        .bind('', '', ['1'])
        .describe('P', '')
        .sync(),
  ],
  ['columns of a cursor', q('BEGIN; DECLARE c CURSOR FOR SELECT b FROM t WHERE a = 1; FETCH c; COMMIT')],
  ['columns of RETURNING', q("INSERT INTO t VALUES (7, 'z') RETURNING b, a + 1 AS c, a")],
  ['columns of RETURNING after a delete', q('DELETE FROM t WHERE a = 7 RETURNING *')],
  [
    'intervals',
    q(
      "SELECT INTERVAL '-1 day' AS a, INTERVAL '-13 mons' AS b, INTERVAL '-1 mon' + INTERVAL '1 day' AS c, INTERVAL '-1 day' + INTERVAL '2 hours' AS d, INTERVAL '1 day' - INTERVAL '1 second' AS e, INTERVAL '-14 mons' + INTERVAL '3 days' - INTERVAL '4 hours' AS f, INTERVAL '-11 days' AS g",
    ),
  ],
  [
    'lists of them',
    q("SELECT ARRAY[INTERVAL '-1 year', INTERVAL '1 year', NULL, INTERVAL '-1 mon' + INTERVAL '1 day'] AS a"),
  ],
  ['COMMIT outside of a transaction', q('COMMIT')],
  ['ROLLBACK outside of a transaction', q('ROLLBACK')],
  ['BEGIN twice', q('BEGIN; BEGIN')],
  ['an error in it', q('SELECT nothing')],
  ['a statement behind it', q('SELECT 1')],
  ['COMMIT of what has failed', q('COMMIT')],
  ['a savepoint', q("BEGIN; INSERT INTO t VALUES (3, 'c'); SAVEPOINT s")],
  ['an error behind it', q('SELECT nothing')],
  ['back to it', q('ROLLBACK TO s; RELEASE s; COMMIT')],
  ['no such savepoint', q('BEGIN; ROLLBACK TO nowhere')],
  ['the end of that', q('END')],
  ['a savepoint outside of a transaction', q('SAVEPOINT s')],
  ['a transaction', q("BEGIN; INSERT INTO t VALUES (99, 'open')")],
  ['an end that is none', q('COMMIT TO nowhere')],
  ['does not end it', q("INSERT INTO t VALUES (99, 'alone')")],
  ['nor does another one', q('ROLLBACK nothing')],
  ['nor a begin', q('BEGIN nothing')],
  ['this does', q('COMMIT')],
  ['an end that is none, outside', q('COMMIT nothing')],
  ['a transaction again', q('BEGIN')],
  ['a begin that is none, within', q('BEGIN nothing')],
  ['which has failed', q('END')],
  ['a call of a function', (w) => w.send('F', int32(1), int16(0), int16(0), int16(0))],
  ['a call in what has failed', q('BEGIN; SELECT nothing')],
  ['is ignored', (w) => w.send('F', int32(1), int16(0), int16(0), int16(0))],
  ['as all else', q('ROLLBACK')],
  ['a call behind an error', (w) => w.bind('', 'none').send('F', int32(1), int16(0), int16(0), int16(0)).sync()],
  ['a NUL in a Query', (w) => w.send('Q', 'SELECT 1', 'SELECT 2')],
  ['a Parse with more', (w) => w.send('P', '', 'SELECT 1', int16(0), 'more').sync()],
  ['a Describe of what is no kind', (w) => w.send('D', Buffer.from('X'), 'none').sync()],
  ['a Close of what is no kind', (w) => w.send('C', Buffer.from('X'), 'none').sync()],
  ['an Execute with more', (w) => w.parse('', 'SELECT 1').bind('', '').send('E', '', int32(0), int32(0)).sync()],
  [
    'forms for other parameters',
    (w) => w.parse('', 'SELECT 1').send('B', '', '', int16(2), int16(0), int16(0), int16(0), int16(0)).sync(),
  ],
  [
    'forms for other columns',
    (w) => w.parse('', 'SELECT 1').send('B', '', '', int16(0), int16(0), int16(2), int16(0), int16(1)).sync(),
  ],
  [
    'a form that there is none of',
    (w) =>
      w.parse('', 'SELECT $1', [23]).send('B', '', '', int16(1), int16(7), int16(1), int32(1), '', int16(0)).sync(),
  ],
  ['what the script has left', q('SELECT * FROM t ORDER BY a')],
  [
    'a prepared statement',
    (w) => w.parse('p', 'SELECT $1 AS x, $2::INTEGER + 1 AS y', [25, 23]).describe('S', 'p').sync(),
  ],
  [
    'texts that are cast',
    (w) =>
      w
        .parse(
          '',
          `SELECT cast($1 as text[]) AS a, $2::int[] AS b, CAST($3 AS bytea) AS c, $4::boolean AS d, $5::date AS e, $6::uuid AS f, $7::text AS g,
            $8::float8[] AS h, $9::timestamp AS i, $10 AS j`,
          [1043, 25, 1043, 1043, 0, 1043, 1043, 25, 1043, 25],
        )
        .describe('S', '')
        .bind('', '', [
          '{"a","b,c","","x\\"\\\\",NULL}',
          '{1,NULL,-3}',
          '\\x00ff275c',
          'on',
          '0044-03-15 BC',
          'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11',
          '{1}',
          '{}',
          '2024-02-29 12:34:56.5',
          'x',
        ])
        .execute('')
        .sync(),
  ],
  ['NULL that is cast', (w) => w.parse('', 'SELECT $1::int[] AS a', [1043]).bind('', '', [null]).execute('').sync()],
  [
    'texts of EXECUTE',
    q(
      "PREPARE x (bytea, int[]) AS SELECT $1 AS a, $2 AS b, $3::text[] AS c; EXECUTE x('\\x00ff', '{1,NULL}', '{\"a,b\"}'); DEALLOCATE x",
    ),
  ],
  [
    'a text in two places',
    (w) => w.parse('', 'SELECT $1 AS a, $1::date AS b', [25]).bind('', '', ['2024-02-29']).execute('').sync(),
  ],
  ...(
    [
      ['a = ANY($1)', '{1,3,NULL}'],
      ['a = ANY($1)', null],
      ['NOT a = ANY($1)', '{7}'],
      ['a <> ALL($1)', '{1,NULL}'],
      ['a <> ALL($1)', '{}'],
      ['a > SOME($1)', '{1,2}'],
      ['lower(b) = ANY($1)', '{a,"b,c"}'],
      ['(a + 1) = ANY($1) OR b = ANY($2::text[])', '{2}', '{x}'],
      ['now()::date = ANY($1) OR a = 1', '{2024-02-29}'],
      ['t.a = ANY($1) AND a IN (SELECT a FROM t WHERE a = ANY($1))', '{1,2}'],
      ['a = ANY($1)', '{1,x}'],
    ] as const
  ).map(([where, ...lists]): readonly [string, Step] => [
    `lists of which nothing is declared: ${where} of ${lists.join(' and ')}`,
    (w) =>
      w.parse('', `SELECT a FROM t WHERE ${where} ORDER BY a`).describe('S', '').bind('', '', lists).execute('').sync(),
  ]),
  ...[
    ...['flip', 'SELECT, flip', '', 'SELECT,', 'SELECT  WITH GRANT OPTION', 'USAGE', ' select , INSERT '].map(
      (privilege) => `has_table_privilege('t', '${privilege}')`,
    ),
    "has_table_privilege('t', NULL)",
    "has_table_privilege('none', 'flip')",
    "has_table_privilege(99999999::oid, 'flip')",
    "has_table_privilege(99999999::oid, 'SELECT')",
    "has_table_privilege(current_user, 't', 'flip')",
    "has_any_column_privilege('t', 'DELETE')",
    "has_column_privilege('t', 'a', 'DELETE')",
    "has_column_privilege('t', 'a', 'select')",
    "has_schema_privilege('pg_catalog', 'SELECT')",
    "has_database_privilege(current_database(), 'flip')",
    "has_function_privilege('version()', 'flip')",
    "has_function_privilege('version()', 'EXECUTE')",
    "has_function_privilege('none()', 'EXECUTE')",
    "has_type_privilege('int4', 'flip')",
    "has_type_privilege('int4', 'USAGE')",
    "has_type_privilege('nothing', 'USAGE')",
    "has_sequence_privilege('none', 'USAGE')",
    "has_language_privilege('sql', 'flip')",
    "has_tablespace_privilege('pg_default', 'flip')",
    "has_parameter_privilege('work_mem', 'flip')",
    "has_largeobject_privilege(1, 'flip')",
    "pg_has_role(current_user, 'flip')",
    "pg_has_role(current_user, current_user, 'flip')",
    "pg_has_role(current_user, 'MEMBER')",
    ...'regclass regtype regproc regprocedure regnamespace regrole regoper regcollation oid'
      .split(' ')
      .flatMap((type) => ["'99999999999'", "'4294967296'"].map((number) => `${number}::${type}`)),
    ...['4294967295', '-1', '-2147483649', ' 12 ', 'abc', '', '12x', '010', '08', '0x1F', '-010'].map(
      (text) => `'${text}'::oid`,
    ),
    ...['007', '010', '1259', '-', '0'].map((text) => `'${text}'::regclass`),
    '99999999999::oid',
    '99999999999::regclass',
    '(-1)::oid',
    "to_regclass('1259')",
    "to_regclass('99999999999')",
  ].map((value): readonly [string, Step] => [`names of objects and rights: ${value}`, q(`SELECT ${value} AS x`)]),
  ...["oid = '99999999999'", "oid IN ('99999999999')", "oid = 'abc'", "oid = ANY('{99999999999}')"].map(
    (where): readonly [string, Step] => [
      `names of objects: ${where}`,
      q(`SELECT count(*) AS n FROM pg_class WHERE ${where}`),
    ],
  ),
  ['a schema with the prefix of Postgres', q('CREATE SCHEMA pg_mine')],
  ['one that is to have it', q(`ALTER SCHEMA ${SCHEMA} RENAME TO pg_mine`)],
  ['its name again', (w) => w.parse('p', 'SELECT 1').sync()],
  ['its values', (w) => w.bind('', 'p', ['v', '41']).describe('P', '').execute('').sync()],
  ['too few values', (w) => w.bind('', 'p', ['v']).sync()],
  ['a wrong value', (w) => w.bind('', 'p', ['v', 'none']).execute('').sync()],
  ['EXECUTE of it', q("EXECUTE p('w', 1)")],
  ['DEALLOCATE', q('DEALLOCATE p')],
  ['what is gone', (w) => w.bind('', 'p').sync()],
  ['DEALLOCATE of what is gone', q('DEALLOCATE p')],
  ['no such statement', (w) => w.describe('S', 'none').sync()],
  ['no such portal', (w) => w.describe('P', 'none').execute('none').sync()],
  ['an empty statement', (w) => w.parse('', '').bind('', '').describe('P', '').execute('').sync()],
  ['two statements in one', (w) => w.parse('', 'SELECT 1; SELECT 2').sync()],
  [
    'a statement without rows',
    (w) => w.parse('', 'DELETE FROM t WHERE a = 99').describe('S', '').bind('', '').execute('').sync(),
  ],
  ['Close of what is not there', (w) => w.close('S', 'none').close('P', 'none').sync()],
  ['skipped to Sync', (w) => w.parse('', 'SELECT nothing').bind('', '').parse('x', 'SELECT 1').execute('').sync()],
  ['nothing of it is there', (w) => w.bind('', 'x').sync()],
  [
    'a pipeline of two writes',
    (w) => w.parse('', "INSERT INTO t VALUES (4, 'd')").bind('', '').execute('').bind('', '').execute('').sync(),
  ],
  [
    'one that fails',
    (w) =>
      w.parse('', 'DELETE FROM t').bind('', '').execute('').parse('', 'SELECT nothing').bind('', '').execute('').sync(),
  ],
  ['has done nothing', q('SELECT count(*) AS n FROM t')],
  ['a limit of rows', (w) => w.parse('', SERIES).bind('p', '').execute('p', 2).execute('p', 2).execute('p', 2).sync()],
  ['which ends with Sync', (w) => w.execute('p').sync()],
  ['as many rows as there are', (w) => w.parse('', SERIES).bind('', '').execute('', 5).execute('', 5).sync()],
  ['a portal of a transaction', q('BEGIN')],
  ['two of them', (w) => w.parse('', SERIES).bind('p', '').bind('r', '').execute('p', 2).execute('r', 1).sync()],
  ['after Sync', (w) => w.execute('p', 2).execute('r', 0).sync()],
  ['MOVE of a portal', q('MOVE 1 FROM p')],
  ['FETCH of a portal', q('FETCH ALL FROM p')],
  ['its name again', (w) => w.parse('', SERIES).bind('p', '').sync()],
  ['an error ends them', q('ROLLBACK')],
  ['all of them', (w) => w.execute('p').sync()],
  ['a cursor outside of a transaction', q('DECLARE c CURSOR FOR SELECT 1')],
  ['a cursor', q(`BEGIN; DECLARE c SCROLL CURSOR FOR ${SERIES}`)],
  [
    'directions',
    q('FETCH c; FETCH 2 c; FETCH PRIOR c; FETCH LAST c; FETCH FIRST c; FETCH ABSOLUTE 3 c; FETCH RELATIVE -1 c'),
  ],
  ['beyond its ends', q('FETCH BACKWARD ALL c; FETCH PRIOR c; FETCH FORWARD 9 c; FETCH NEXT c; FETCH ABSOLUTE -2 c')],
  ['where it stands', q('FETCH RELATIVE 0 c; FETCH 0 c; FETCH FORWARD 0 c')],
  ['MOVE', q('MOVE FIRST c; MOVE 2 c; MOVE ALL c; MOVE BACKWARD ALL c; MOVE 0 c')],
  ['a cursor is a portal', (w) => w.describe('P', 'c').execute('c', 2).execute('c').sync()],
  ['FETCH through Parse', (w) => w.parse('', 'FETCH 1 FROM c').describe('S', '').bind('', '').execute('').sync()],
  ['CLOSE', q('CLOSE c; SAVEPOINT s; DECLARE d CURSOR FOR SELECT 1; ROLLBACK TO s')],
  ['what a savepoint has taken', q('FETCH d')],
  ['the end', q('ROLLBACK')],
  ['one that goes forward', q(`BEGIN; DECLARE c NO SCROLL CURSOR FOR ${SERIES}; FETCH 2 c`)],
  ['and not back', q('FETCH PRIOR c')],
  ['the end of it', q('ROLLBACK')],
  ['WITH HOLD', q(`BEGIN; DECLARE h CURSOR WITH HOLD FOR ${SERIES}; COMMIT; FETCH 2 h; CLOSE h`)],
  ['WITH HOLD of what is undone', q(`BEGIN; DECLARE h CURSOR WITH HOLD FOR ${SERIES}; ROLLBACK`)],
  ['is gone', q('FETCH h')],
  ['CLOSE ALL', q('CLOSE ALL')],
  ['settings', q("SET application_name = 'x'; SHOW application_name; RESET application_name")],
  ['no such setting', q('SET no_such_setting = 1')],
  ['undone', q("BEGIN; SET LOCAL statement_timeout = 0; SET application_name = 'y'; ROLLBACK; SHOW application_name")],
  ['SET LOCAL outside', q('SET LOCAL jit = off')],
  ['what only reads', q('BEGIN READ ONLY; DELETE FROM t')],
  ['the end of that, too', q('ROLLBACK')],
  ['DISCARD', q('DISCARD PLANS; UNLISTEN *')],
  ['DISCARD ALL in a transaction', q('BEGIN; DISCARD ALL')],
  ['and out', q('ROLLBACK')],
];

test('one script of messages: the same bytes', async () => {
  const different: string[] = [];
  for (const [what, step] of SCRIPT) {
    const [mine, real] = await answers(step);
    if (mine.join('\n') !== real.join('\n')) {
      different.push(`${what}:\n  ${mine.join('\n  ')}\n--- Postgres:\n  ${real.join('\n  ')}`);
    }
  }
  expect(different.join('\n\n')).toBe('');
});

/** JSON is compared by its value: Postgres prints spaces, and sorts members. */
const JSON_QUERIES = [
  `SELECT jsonb_agg(x ORDER BY x DESC), json_agg(DISTINCT x % 2 ORDER BY x % 2), jsonb_agg(x ORDER BY x) FILTER (WHERE x > 2), jsonb_agg(x) FILTER (WHERE x > 9)
     FROM generate_series(1, 4) AS g(x)`,
  `SELECT jsonb_agg(x) FROM generate_series(1, 4) AS g(x) WHERE x > 9`,
  `SELECT coalesce(jsonb_agg(jsonb_build_array(x, 'a"b', NULL, true) ORDER BY x), jsonb_build_array()) FROM generate_series(1, 2) AS g(x)`,
  `SELECT jsonb_build_object('a', 1, 'b', jsonb_build_object('c', jsonb_build_array('x', 1.5))), json_build_object(), json_build_object(1, 2, 'k' || 3, jsonb_build_object(4, 5)), to_jsonb('x'::text), to_jsonb(NULL::text)`,
  `SELECT jsonb_object_agg('k' || x, x * 2), json_object_agg('k' || x, CASE WHEN x = 1 THEN NULL ELSE x END) FILTER (WHERE x < 3) FROM generate_series(1, 4) AS g(x)`,
  `SELECT x, jsonb_agg(x) OVER (ORDER BY x ROWS UNBOUNDED PRECEDING), jsonb_object_agg(x, x) OVER w FROM generate_series(1, 3) AS g(x) WINDOW w AS (ORDER BY x) ORDER BY x`,
  `SELECT jsonb_typeof('1'::jsonb), json_typeof('"x"'::json), jsonb_typeof('[1]'::jsonb), jsonb_typeof('{}'::jsonb), jsonb_typeof('null'::jsonb), jsonb_typeof('-1.5'::jsonb),
     jsonb_typeof('true'::jsonb), jsonb_typeof(NULL::jsonb), jsonb_array_length('[1, [2, 3]]'::jsonb)`,
  `SELECT jsonb_agg(r ORDER BY r.a) FROM (VALUES (2, 'x'), (1, NULL)) AS r(a, b)`,
  `SELECT jsonb_agg(s.x) FROM (SELECT x FROM generate_series(1, 50) AS g(x) ORDER BY x DESC) AS s`,
  `SELECT jsonb_object_agg(NULL::text, 1)`,
  `SELECT json_agg(t) FROM (SELECT x, x % 7 AS y FROM generate_series(1, 3000) AS g(x) ORDER BY y DESC, x) AS t`,
  `SELECT jsonb_agg(t.y) FROM (SELECT DISTINCT x % 7 AS y FROM generate_series(1, 3000) AS g(x) ORDER BY y DESC) AS t`,
  // Operators bind tighter than comparisons, AND, NOT and IS.
  `SELECT j->>'a' = 'x' AND NOT j->'b'->>1 = '7' OR j->>'c' IS NULL, 'x' = j->>'a', j->'b'->-1 IS NOT NULL, j->'b'->-1, j->>'$oid', (j->>'n')::int + 1
     FROM (SELECT '{"a": "x", "b": [5, 6], "$oid": 3, "n": 4}'::jsonb AS j) AS t WHERE j->>'a' = 'x' AND j->>'n' <> '5'`,
  `SELECT j #>> '{b,1}', j #> '{b}', j #> ARRAY['o', 'p/~'], j #>> '{o,none}' IS NULL, j #>> '{b,0}' = '5' AND j #> '{}' IS NOT NULL, j #>> '{}'::text[]
     FROM (SELECT '{"b": [5, 6], "o": {"p/~": null}}'::jsonb AS j) AS t`,
  `SELECT jsonb_extract_path(j, 'b', '1'), json_extract_path_text(j::json, 'a') = 'x', jsonb '[1]' -> 0, row_to_json(t.*), json_agg(t.*) OVER (), to_jsonb(t.*)
     FROM (SELECT '{"a": "x", "b": [5, 6]}'::jsonb AS j) AS t`,
  `SELECT e->>'id', t.n FROM (SELECT 1 AS n, '{"items": [{"id": 7}, {"id": 8}]}'::jsonb AS d) AS t, jsonb_array_elements(t.d->'items') AS e ORDER BY 1`,
  `SELECT t.n, x FROM (SELECT 1 AS n, '["p", "q", null]'::jsonb AS d UNION ALL SELECT 2, '[]' UNION ALL SELECT 3, NULL) AS t LEFT JOIN LATERAL jsonb_array_elements_text(t.d) AS x ON true ORDER BY 1, 2`,
  `SELECT v, i FROM json_array_elements('[{"a": 1}, 2, null]') WITH ORDINALITY AS x(v, i) ORDER BY i`,
  `SELECT n FROM (SELECT 1 AS n, '["p", "q"]'::jsonb AS d) AS t WHERE EXISTS (SELECT 1 FROM jsonb_array_elements_text(d) AS e WHERE e = 'q') AND 'p' IN (SELECT jsonb_array_elements_text(d))`,
  `SELECT e.key, e.value FROM (SELECT '{"a": 1, "b": [2], "c": "x", "d": null}'::jsonb AS d) AS t, jsonb_each(t.d) AS e ORDER BY 1`,
  `SELECT k, v FROM jsonb_each_text('{"a": 1, "b": "x", "c": null}') AS e(k, v) ORDER BY k`,
  `SELECT k, (SELECT count(*) FROM json_object_keys('{"a": 1, "b": 2}')) FROM jsonb_object_keys('{"a": 1, "b": 2}') AS k ORDER BY k`,
  // Rows of a correlated subquery that is sorted.
  `SELECT c.id, (SELECT coalesce(jsonb_agg(jsonb_build_array(t.v0)), jsonb_build_array()) FROM (SELECT o.x AS v0 FROM generate_series(1, 2000) AS o(x)
     WHERE o.x % 40 = c.id ORDER BY (o.x * 7919) % 1009, o.x) AS t) FROM generate_series(0, 9) AS c(id) ORDER BY c.id`,
];

test.each(JSON_QUERIES)('the same JSON: %s', async (sql) => {
  const [mine, real] = await both(async (wire) => {
    const messages = await wire.send('Q', sql).messages();
    return messages
      .filter(({ type }) => type === 'D' || type === 'E')
      .map((one) => (one.type === 'E' ? 'error' : rowOf(one.body).map(jsonOf)));
  });
  expect(mine).toEqual(real);
});

/** Expressions whose values are the same; the types of numbers, and texts of errors, are each server's own. */
const VALUES = [
  ...['~', '!~', '~*', '!~*'].flatMap((operator) =>
    ['b', '^b', '^a.*C$', 'B|x', 'z'].map((pattern) => `'abc' ${operator} '${pattern}'`),
  ),
  `E'a\\nb' ~ 'a.b'`,
  `'b' || 'c' ~ 'bc'`,
  `NOT 'abc' ~ 'b' OR NULL ~ 'a'`,
  `'a' || 'b' !~ 'ab' = false`,
  `~5 + (5 & ~3)`,
  `CASE WHEN true THEN 'abc' END ~ 'b'`,
  `'abc' ~~ 'a%' AND 'abc' ~~* 'A%' AND 'abc' !~~ 'b%'`,
  `(SELECT string_agg(x, ',' ORDER BY x) FROM (VALUES ('abc', 'B'), ('x', 'y'), (NULL, 'b'), ('y', NULL)) AS v(x, p) WHERE x ~* p AND x ~ lower(v.p) AND x ~ ('^' || lower(p) || '|a'))`,
  `initcap('hello wORLD foo-bar 2nd x_y o''neil')`,
  `initcap(initcap(NULL))`,
  `initcap('')`,
  `lpad('a', 3) || rpad('b', 3) || lpad('abc', 2) || lpad('abc', -1)`,
  `string_to_array('a,b,c', ',')`,
  `string_to_array('a,b,,c', ',', '')`,
  `string_to_array('abc', NULL)`,
  `string_to_array('', ',')`,
  `string_to_array('abc', '')`,
  `string_to_array(NULL, ',')`,
  `string_to_array('1,2', ',')::int[]`,
  `(string_to_array('a,b', ','))[2]`,
  `array_to_string(ARRAY[1, 2, NULL, 3], ',', '*')`,
  `array_to_string(ARRAY['a', NULL], ',', NULL)`,
  `array_to_string(array_remove(string_to_array('a,b,c', ','), 'b'), '-', '*')`,
  `array_remove(ARRAY['a', NULL], NULL)`,
  `array_replace(ARRAY[1, 2, 1], 1, 9)`,
  `quote_nullable(NULL) || quote_nullable('it''s')`,
  `quote_nullable('a\\b')`,
  `quote_literal('a\\b')`,
  `format('%s-%s', 'a', 7)`,
  `format('%L and %s', NULL, NULL)`,
  `format('%2$s %1$s', 'x', true)`,
  `format('%1$s %s', 'x', 'y')`,
  `format('a%%b %%')`,
  `regexp_like('abc', 'B')`,
  `regexp_count('abcabc', 'b')`,
  `regexp_match('foobarbequebaz', '(bar)(beque)')`,
  `regexp_match(initcap('abc'), 'A.')`,
  `regexp_match('abc', 'x')`,
  `regexp_match(NULL, 'x')`,
  `(regexp_match('v1.22', '(\\d+)\\.(\\d+)'))[2]`,
  `regexp_substr('abcabc', 'b.')`,
  ...[
    'YYYY-MM-DD HH24:MI:SS',
    'YYYY-MM-DD HH12:MI:SS.MS US AM pm',
    'YYYY-MM-DD"T"HH24:MI:SS"Z"',
    'Month DD, YYYY',
    'FMMonth FMDD, YYYY',
    'MON Mon mon MONTH month|',
    'DAY Day day DY Dy dy|FMDay|',
    'Q D ID DDD FMDDD IW IYYY YY',
    'yyyy"Q"q iyyy-iw 100%',
    'HH12 HH FMHH12 FMHH24 FMMI FMSS AM',
  ].flatMap((template) =>
    ["timestamp '2024-03-05 14:05:06.123456'", "timestamp '2024-12-30 00:15'", "date '2023-01-01'"].map(
      (time) => `to_char(${time}, '${template}')`,
    ),
  ),
  ...[
    '9',
    '09',
    '90',
    '999',
    '9.9',
    '0.99',
    '9,999',
    '9,999.99',
    '99,990.00',
    '0,000.0',
    'FM999',
    'FM9.9',
    'FM0.99',
    'FM9,999.99',
    'FM9,999.90',
    'FM0,009.99',
    'FM999,999,990.00',
  ].map(
    (template) =>
      `string_agg(coalesce(to_char(x, '${template}'), '-'), '|' ORDER BY x)
        FROM (VALUES (0), (5), (-5), (0.5), (-0.05), (0.04), (-0.04), (1234.5), (-1234.567), (999.995), (-99999), (148), (0.001), (-0.001), (100.10), (9.95), (-9.95), (NULL)) AS v(x)`,
  ),
  `to_char(-12::bigint, '9,999') || to_char(12.34::numeric(10, 2), 'FM90.0') || to_char(7::smallint, '00')`,
  `to_char(timestamp 'infinity', 'YYYY')`,
  `to_char(NULL::timestamp, 'YYYY')`,
  `to_char(date '0044-03-15', 'YYYY YY')`,
  `to_char((SELECT max(d) FROM (VALUES (date '2024-01-01')) AS v(d)), 'YYYY') || 'x'`,
  `to_date('2024-03-05', 'YYYY-MM-DD')`,
  `to_date('20240305', 'YYYYMMDD')`,
  `to_date('05/3/2024', 'DD/MM/YYYY')`,
  `to_date(NULL, 'YYYY-MM-DD')`,
  `to_date('2024-13-05', 'YYYY-MM-DD')`,
  `to_date('2024-02-30', 'YYYY-MM-DD')`,
  `to_timestamp('2024-03-05 10:00:01', 'YYYY-MM-DD HH24:MI:SS')`,
  `to_timestamp(1700000000)`,
  ...[
    ['{"a":1,"b":2}', '{"a":1.0}'],
    ['{"a":{"b":1}}', '{"b":1}'],
    ['{"a":{"b":1,"c":[1,2,{"d":"x","e":null}]}}', '{"a":{"c":[{"d":"x"},1,1]}}'],
    ['{"a":{"c":[1,2,{"e":null}]}}', '{"a":{"c":[{"e":null}]}}'],
    ['{"a":{"c":[1,2]}}', '{"a":{"c":[3]}}'],
    ['{"a":{"b":1}}', '{"a":{"z":null}}'],
    ['["foo","bar"]', '"bar"'],
    ['["foo",["bar"]]', '["bar"]'],
    ['["foo",["bar"]]', '[["bar"]]'],
    ['"bar"', '"bar"'],
    ['"bar"', '["bar"]'],
    ['{"a":["x"]}', '{"a":"x"}'],
    ['{}', '{}'],
    ['[1]', '{}'],
    ['[[1]]', '[[]]'],
    ['{"a/b~":true}', '{"a/b~":true}'],
    ['{"a":true}', '{"a":"true"}'],
    ['["x"]', '{"0":"x"}'],
  ].map(([value, wanted]) => `'${value}'::jsonb @> '${wanted}'::jsonb`),
  `'{"a":1}'::jsonb @> '{"a":1}' AND NOT '[1]'::jsonb @> '[2]'`,
  `NULL::jsonb @> '{"a":1}'`,
  ...['{"a":1}', '["a",1]', '"a"', '1', 'null', '{"1":{}}'].flatMap((value) =>
    ["? 'a'", "? '1'", "?| array['a','x']", "?& '{a,x}'", "?| '{}'", "?& '{}'"].map(
      (search) => `'${value}'::jsonb ${search}`,
    ),
  ),
  `NOT '{"a":{"b":1}}'::jsonb -> 'a' ? 'b' OR NULL::jsonb ? 'a'`,
  `string_agg(d->>'n', ',') FROM (VALUES ('{"n":1,"t":["x","y"]}'::jsonb), ('{"n":2,"t":["z"]}'::jsonb)) AS v(d) WHERE d->'t' ? 'x' AND d @> '{"n":1}' OR d->'t' @> '["z"]'::jsonb`,
  `ARRAY[1, 2] @> ARRAY[1] AND ARRAY['a'] @> '{a}'::text[]`,
  ...[
    `a = ANY('{1,2}')`,
    `c = ANY('{7,3}')`,
    `b = ANY('{x,"y"}')`,
    `a <> ALL('{1}')`,
    `a <> ALL('{1,NULL}')`,
    `a = ANY('{}')`,
    `a = ANY('{x}')`,
    `v.a = ANY('{1}') AND v.b ~ 'X|x'`,
  ].map(
    (where) =>
      `string_agg(c::text, ',' ORDER BY c) FROM (VALUES (1, 'x', 1::bigint), (2, 'y', 2), (NULL, 'z', 3)) AS v(a, b, c) WHERE ${where}`,
  ),
  `encode('abc'::bytea, 'hex') || encode('abc'::bytea, 'base64')`,
  `decode('616263', 'hex')`,
  `decode('YWJj', 'base64')`,
  `extract(second FROM timestamp '2024-03-15 10:00:01.5')`,
  `extract(seconds FROM time '10:20:30.25')`,
  `extract(milliseconds FROM timestamp '2024-03-15 10:00:01.5005')`,
  `extract(second FROM interval '-1.5 seconds')`,
  `date_part('second', timestamp '2024-03-15 10:00:01.5')`,
  `date_part('milliseconds', interval '1.5005 seconds')`,
  `generate_series(1, 3)`,
  `generate_series(a, 3) FROM (VALUES (2), (3)) AS v(a) ORDER BY 1`,
  `d::date FROM generate_series(date '2024-01-01', date '2024-01-03', '1 day') AS d`,
  `g + interval '1 day', count(*) OVER () FROM generate_series(timestamp '2024-01-31', timestamp '2024-03-31', interval '1 month') g`,
  `i + j FROM generate_series(1, 2) AS i, generate_series(1, 2) AS k(j) WHERE i > 1 ORDER BY 1`,
  `statement_timestamp() <= now() + interval '1 minute'`,
];

test.each(VALUES)('the same value: %s', async (value) => {
  const [mine, real] = await both(async (wire) => {
    const messages = await wire.send('Q', `SELECT ${value}`).messages();
    return messages
      .filter(({ type }) => type === 'D' || type === 'E')
      .map((one) => (one.type === 'E' ? 'error' : rowOf(one.body)));
  });
  expect(mine).toEqual(real);
});

test.each([
  [`to_char(date '2024-03-05', 'DDth')`, 'DDth'],
  [`to_char(1.5::float8, '9.9')`, 'DOUBLE'],
  [`to_char(now(), 'YYYY TZ')`, 'TZ'],
  [`to_char(date '2024-03-05' - interval '3000 years', 'YYYY')`, 'before 1'],
  [`to_date('05 Mar 2024', 'DD Mon YYYY')`, 'DD Mon YYYY'],
  [`format('%5s', 'a')`, '%5s'],
  [`format('%s', 1.5::float8)`, 'DOUBLE'],
  [`format('%s', ARRAY[1])`, 'INTEGER[]'],
  [`regexp_match('abc', '(x)?b')`, '(x)?b'],
  [`'{}'::jsonb @> '{"a": 12345678901234567}'`, '@>'],
  [`'{}'::jsonb ? lower('A')`, '?'],
])('refused, and told why: %s', async (value, reason) => {
  const messages = await ours.send('Q', `SELECT ${value}`).messages();
  const [error] = messages.filter(({ type }) => type === 'E').map(({ body }) => fieldsOf(body));
  expect([error?.get('C'), error?.get('M')]).toEqual(['0A000', expect.stringContaining(reason)]);
});

const jsonOf = (cell: string | null): unknown => {
  try {
    return cell === null ? 'NULL' : JSON.parse(cell);
  } catch {
    return cell;
  }
};

/** A statement of a random run; those that fail, too. */
function drawStatement(random: Random): string {
  const key = random.below(6);
  const point = random.pick(['s', 'u']);
  return random.pick([
    `INSERT INTO t VALUES (${key}, 'x${random.below(100)}')`,
    `INSERT INTO t SELECT a + 1, b FROM t WHERE a = ${key}`,
    `UPDATE t SET b = b || 'y' WHERE a = ${key}`,
    `DELETE FROM t WHERE a = ${key}`,
    'BEGIN',
    'BEGIN',
    'COMMIT',
    'ROLLBACK',
    `SAVEPOINT ${point}`,
    `SAVEPOINT ${point}`,
    `ROLLBACK TO ${point}`,
    `RELEASE ${point}`,
    'SELECT nothing',
    `SELECT count(*) AS n FROM t WHERE a = ${key}`,
  ]);
}

/** Some statements: of one Query, or a pipeline up to a Sync. */
function drawStep(random: Random): { readonly text: string; readonly step: Step } {
  const statements = Array.from({ length: 1 + random.below(4) }, () => drawStatement(random));
  if (random.chance(0.5)) return { text: statements.join('; '), step: q(statements.join('; ')) };
  const step: Step = (wire) => {
    for (const sql of statements) wire.parse('', sql).bind('', '').execute('');
    return wire.sync();
  };
  return { text: `pipeline: ${statements.join('; ')}`, step };
}

const STEPS = 60;

test('random statements with savepoints, errors and pipelines: the same answers, and the same table', async () => {
  const seed = fixedSeed();
  const random = new Random(seed);
  await both((wire) => wire.query('ROLLBACK; DELETE FROM t'));
  const log: string[] = [];
  for (let i = 0; i < STEPS; i += 1) {
    const { text, step } = drawStep(random);
    log.push(text);
    const [mine, real] = await answers(step);
    expect(mine, `seed ${seed}:\n${log.join('\n')}`).toEqual(real);
  }
  const [mine, real] = await answers(q('ROLLBACK; SELECT * FROM t ORDER BY a, b'));
  expect(
    mine.filter((one) => one.startsWith('D')),
    `seed ${seed}`,
  ).toEqual(real.filter((one) => one.startsWith('D')));
}, 180_000);
