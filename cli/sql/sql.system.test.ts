import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { waitUntil } from '../process-identity.ts';

const SKEIN = fileURLToPath(new URL('../skein.js', import.meta.url));
/** Runs for minutes on any machine. */
const LONG = 'SELECT sum(hash(i)) FROM range(1000000000000) sql_shell(i)';

let cluster: Cluster;
let folder: string;
beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  folder = mkdtempSync(join(tmpdir(), 'skein-sql-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const sql = (args: readonly string[], input = '') => cluster.cli(['sql', ...args], {}, input);

describe('one shot', () => {
  test('statements of -e, of a file and of standard input, in their order', async () => {
    const file = join(folder, 'a.sql');
    writeFileSync(file, "-- a comment; with a semicolon\nSELECT ';' AS b;\nSELECT 3 AS c");
    expect(await sql(['-e', 'SELECT 1 AS a', '-e', 'SELECT 2 AS a;', '-f', file])).toEqual({
      code: 0,
      stdout: 'a\n1\na\n2\nb\n;\nc\n3\n',
      stderr: '',
    });
    expect((await sql(['--format', 'ndjson'], 'SELECT 1 AS x;\n\nSELECT\n2 AS x')).stdout).toBe('{"x":1}\n{"x":2}\n');
  });

  test('64-bit integers, decimals, NULL and text come out exact in every format', async () => {
    const statement = `SELECT 9223372036854775807 AS i, 1.10::DECIMAL(9,2) AS d, NULL AS n, 'a"b,c' AS t, [1, NULL] AS l`;
    const [csv, ndjson, json, table] = await Promise.all(
      ['csv', 'ndjson', 'json', 'table'].map((format) => sql(['--format', format, '-e', statement])),
    );
    expect(csv?.stdout).toBe('i,d,n,t,l\n9223372036854775807,1.10,,"a""b,c","[1,null]"\n');
    expect(ndjson?.stdout).toBe('{"i":"9223372036854775807","d":"1.10","n":null,"t":"a\\"b,c","l":[1,null]}\n');
    expect(JSON.parse(json?.stdout ?? '')).toEqual([
      { i: '9223372036854775807', d: '1.10', n: null, t: 'a"b,c', l: [1, null] },
    ]);
    expect(table?.stdout).toContain(' 9223372036854775807 | 1.10 | NULL | a"b,c | [1,null]');
  });

  test('the session holds from statement to statement', async () => {
    const { stdout, code } = await sql([
      '-e',
      "SET TimeZone = 'Asia/Tokyo'",
      '-e',
      "SELECT hour(TIMESTAMPTZ '2026-01-01 00:00:00+00') AS h",
    ]);
    expect({ code, last: stdout.trim().split('\n').at(-1) }).toEqual({ code: 0, last: '9' });
  });

  test('a result of millions of rows passes through in little memory', async () => {
    const child = spawn(process.execPath, [
      '--max-old-space-size=48',
      SKEIN,
      'sql',
      '--data-dir',
      cluster.dataDir,
      '-e',
      'FROM range(3000000) t(i)',
    ]);
    let bytes = 0;
    let tail = '';
    child.stdout.on('data', (piece: Buffer) => {
      bytes += piece.length;
      tail = piece.subarray(-20).toString();
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect({ code, bytes, tail: tail.endsWith('\n2999999\n') }).toEqual({ code: 0, bytes: 22_888_892, tail: true });
  });

  test('the first error is the last statement: 1; usage: 2; no connection or token: 3', async () => {
    const failed = await sql(['-e', 'SELECT 1 AS a; SELECT * FROM missing; SELECT 2 AS a']);
    expect(failed).toMatchObject({ code: 1, stdout: 'a\n1\n' });
    expect(failed.stderr).toMatch(/^ERROR 42P01 TABLE_NOT_FOUND: .*missing/);
    expect((await sql(['--format', 'xml', '-e', 'SELECT 1'])).code).toBe(2);
    expect((await sql(['-f', join(folder, 'absent.sql')])).code).toBe(2);
    expect((await sql(['--token', 'nonsense', '-e', 'SELECT 1'])).code).toBe(3);
    expect((await sql(['--token', 'x', '--url', 'http://127.0.0.1:1', '-e', 'SELECT 1'])).code).toBe(3);
    expect((await cluster.cli(['sql', '--timeout', '300ms', '-e', LONG])).stderr).toContain('QUERY_TIMEOUT');
  });

  test('Ctrl-C cancels the query on the server', async () => {
    const child = spawn(process.execPath, [SKEIN, 'sql', '--data-dir', cluster.dataDir, '-e', LONG]);
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const closed = new Promise((resolve) => child.once('close', resolve));
    await untilRunning(1);
    child.kill('SIGINT');
    expect(await closed).toBe(1);
    expect(stderr).toContain('QUERY_CANCELLED');
    await untilRunning(0);
  });

  test('a reader that goes away ends the query', async () => {
    const command = `"${process.execPath}" "${SKEIN}" sql --data-dir "${cluster.dataDir}" -e 'FROM range(1000000000) sql_shell(i)' | head -2`;
    const child = spawn('sh', ['-c', command]);
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    await new Promise((resolve) => child.once('close', resolve));
    expect(stdout).toBe('i\n0\n');
    await untilRunning(0);
  });
});

/** Waits until the coordinator runs that many queries of these tests. */
async function untilRunning(count: number): Promise<void> {
  const end = performance.now() + 10_000;
  for (;;) {
    // The text of this one has no such name.
    const [[running] = []] = await cluster.sql(
      `SELECT count(*)::INT FROM (SHOW QUERIES) WHERE state = 'running' AND contains(sql, 'sql_' || 'shell')`,
    );
    if (running === count) return;
    if (performance.now() > end) throw new Error(`not ${count} but ${JSON.stringify(running)} queries run`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('the shell on a terminal: several lines, errors, Ctrl-C, history of its own, Ctrl-D', async () => {
  // util-linux' script gives it a terminal.
  const command = `"${process.execPath}" "${SKEIN}" sql --data-dir "${cluster.dataDir}"`;
  const child = spawn('script', ['-qfec', command, '/dev/null'], {
    env: { ...process.env, HOME: folder, TERM: 'xterm' },
  });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text));
  const shows = async (text: string | RegExp): Promise<void> => {
    const found = (): boolean => (typeof text === 'string' ? shown.includes(text) : text.test(shown));
    if (!(await waitUntil(found, 15_000))) throw new Error(`${String(text)} is not in ${JSON.stringify(shown)}`);
    shown = '';
  };
  await shows('skein> ');
  child.stdin.write('SELECT 1\n');
  await shows('...> ');
  child.stdin.write('+ 41 AS answer;\n');
  await shows(/answer[^]*42[^]*\(1 row, /);
  child.stdin.write('SELECT nonsense;\n');
  await shows(/ERROR 42703[^]*skein> /);
  child.stdin.write(`${LONG};\n`);
  await untilRunning(1);
  child.stdin.write('\u0003');
  await shows(/QUERY_CANCELLED[^]*skein> /);
  child.stdin.write("\\format ndjson\nSELECT 'x' AS y;\n");
  await shows('{"y":"x"}');
  child.stdin.write('SELECT half a statement\n\u0003');
  await shows(/\n[^]*skein> /);
  child.stdin.write('\u0004');
  expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0);
  expect(readFileSync(join(folder, '.skein_history'), 'utf8')).toContain('+ 41 AS answer;\n');
});
