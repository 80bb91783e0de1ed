import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ScanColumn } from '#shared/iceberg/scan-file.ts';
import type { ScanSpec } from '#shared/task/task.ts';
import { tenantId } from '#shared/id.ts';
import type { Predicate } from '#shared/iceberg/predicate.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';
import { Instance } from '../duckdb/instance.ts';
import { DeletedPositions } from '../scan/deleted-positions.ts';
import { FooterCache } from '../scan/footer-cache.ts';
import { printScan, type PrintedScan } from '../scan/print-scan.ts';
import { openScanned } from '../scan/readable-path.ts';
import { LATE_FALSE } from '../duckdb/statement.ts';
import { InstancePool, type TaskInstance } from '../duckdb/instance-pool.ts';
import { CachedScans } from './cached-scans.ts';
import { RowCache } from './row-cache.ts';

const MIB = 2 ** 20;
/** Rows of a file of two row groups, and of the first. */
const ROWS = 10_000;
const GROUP_ROWS = 6_144;

let dir: string;
let pool: InstancePool;
let instance: TaskInstance;
let cache: RowCache;
const footers = new FooterCache();
const open = openScanned({ credential: FILE_CREDENTIAL });

/** Columns of the file: name, table type, and the expression of row `i`. */
const COLUMNS = [
  ['k', 'long', 'i * 2'],
  ['n', 'int', 'CASE WHEN i % 3 = 0 THEN NULL ELSE (i // 100)::INT END'],
  ['day', 'date', "DATE '1969-12-01' + (i // 50)::INT"],
  ['ts', 'timestamp', "TIMESTAMP '1969-12-31 23:59:50' + to_microseconds(i * 7)"],
  ['zoned', 'timestamptz', "TIMESTAMPTZ '1970-01-01 00:00:00+00' + to_microseconds(i)"],
  ['price', 'decimal(15, 2)', '((i - 5000) / 4)::DECIMAL(15, 2)'],
  ['wide', 'decimal(38, 3)', '(i::DECIMAL(38, 3) * 12345678901234567890)::DECIMAL(38, 3)'],
  ['f', 'double', "CASE WHEN i % 5 = 0 THEN 'NaN'::DOUBLE ELSE i / 3 END"],
  ['b', 'boolean', 'i % 7 = 0'],
  ['s', 'string', "CASE WHEN i % 11 = 0 THEN NULL ELSE 'text ' || repeat('x', (i % 20)::INT) || i END"],
  ['bin', 'binary', "('\\x00' || i)::BLOB"],
  ['id', 'uuid', 'md5(i::VARCHAR)::UUID'],
  [
    'list',
    { type: 'list', 'element-id': 20, element: 'int', 'element-required': false },
    '([i, NULL] || range(i % 7))::INT[]',
  ],
] as const;
const columns: readonly ScanColumn[] = COLUMNS.map(([name, type], i) => ({
  fieldId: i + 1,
  name,
  type,
  required: false,
  initialDefault: null,
}));
const idOf = (name: string): number => columns.find((column) => column.name === name)?.fieldId ?? 0;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'skein-row-cache-'));
  const writer = Instance.open({});
  const connection = writer.connect();
  const ids = COLUMNS.map(([name], i) =>
    name === 'list' ? `list: {__duckdb_field_id: ${i + 1}, element: 20}` : `${name}: ${i + 1}`,
  );
  const select = (from: number, to: number): string =>
    `SELECT ${COLUMNS.map(([name, , sql]) => `${sql} AS ${name}`).join(', ')} FROM range(${from}, ${to}) t(i)`;
  for (const [name, from] of [
    ['one', 0],
    ['two', ROWS],
  ] as const) {
    const options = `FORMAT parquet, ROW_GROUP_SIZE ${GROUP_ROWS}, FIELD_IDS {${ids.join(', ')}}`;
    connection.run(`COPY (${select(from, from + ROWS)}) TO '${join(dir, name)}.parquet' (${options})`);
  }
  const long = "SELECT repeat('x', 300000) AS s FROM range(2048)";
  connection.run(`COPY (${long}) TO '${join(dir, 'long')}.parquet' (FORMAT parquet, FIELD_IDS {s: ${idOf('s')}})`);
  connection[Symbol.dispose]();
  writer[Symbol.dispose]();
  pool = new InstancePool(join(dir, 'spill'), { countMax: 2, bytesMax: 32 * MIB, afterMs: 5_000 });
  ({ instance } = pool.acquire({ tenant: 'acme', writes: false }, [dir], 2 ** 28));
  const context = { nowMicros: '0', timeZone: 'UTC', currentUser: 'u', currentCatalog: 'c', currentSchema: 's' };
  const rest = {
    profile: 'none' as const,
    bounds: [],
    keepJoinOrder: false,
    unsound: { optimizers: [], windows: false },
  };
  instance.configure({ memoryBytes: 2 ** 28, spillBytes: 2 ** 30, threads: 1, context, ...rest });
});

afterAll(() => {
  instance[Symbol.dispose]();
  pool[Symbol.dispose]();
  rmSync(dir, { recursive: true, force: true });
});

beforeEach(() => {
  cache = new RowCache(32 * MIB);
});

type Read = Partial<Pick<ScanSpec, 'readFieldIds' | 'predicate' | 'tableUuid'>> & {
  readonly tenant?: string;
  readonly files?: readonly string[];
  readonly deletes?: ScanSpec['files'][number]['deletes'];
};

async function print({ tenant = 'acme', files = ['one', 'two'], deletes = [], ...more }: Read): Promise<PrintedScan> {
  const scan: ScanSpec = {
    tableName: 'lake.s.t',
    tableUuid: 'u',
    snapshotId: '1',
    schemaId: 0,
    columns,
    files: files.map((name) => {
      const path = join(dir, `${name}.parquet`);
      const rest = { rows: null, constants: {}, deletes, firstRowId: null };
      const recordCount = name === 'long' ? 2_048 : ROWS;
      return { path, recordCount, sizeBytes: statSync(path).size, ...rest };
    }),
    nameMapping: null,
    predicate: { kind: 'true' },
    allowedRoots: [dir],
    credential: FILE_CREDENTIAL,
    ...more,
  };
  const { signal } = new AbortController();
  const readFooter = footers.of(signal, { tenant: tenantId(tenant), tableUuid: scan.tableUuid, open });
  const positions = new DeletedPositions(1e6);
  return await printScan(signal, scan, { index: 0, tenant: tenantId(tenant), open, readFooter, positions });
}

type Answer = { readonly isCached: boolean; readonly numbers: readonly number[]; readonly missed: boolean };

/** Runs a statement that gives a row of numbers, over the scan as `t`, as a slot does. */
function ask(printed: PrintedScan, sql: string): Answer {
  using cached = new CachedScans(cache, [printed]);
  const text = cached.open(instance, 0).get(0)?.replace(LATE_FALSE, 'false') ?? printed.sql;
  for (const _ of cached.fill(instance));
  try {
    const numbers = instance.connection.readNumbers(sql.replace('FROM t', `FROM ${text} AS t`));
    return { isCached: cached.servesAny, numbers, missed: false };
  } catch (error) {
    if (!cached.missed([printed])) throw error;
    return { isCached: true, numbers: [], missed: true };
  } finally {
    instance.inputs.clear();
  }
}

/** The rows of the scan, in their order, as numbers. */
const digest = (columns: string, where = ''): string =>
  `SELECT count(*), (hash(list(t)) >> 12)::BIGINT FROM (SELECT ${columns} FROM t${where}) AS t`;

async function askThrice(read: Read, sql: string): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (let i = 0; i < 3; i++) answers.push(ask(await print(read), sql));
  return answers;
}

const isCached = (answers: readonly Answer[]): boolean[] => answers.map((answer) => answer.isCached);

describe('rows of the cache', () => {
  test('the second scan of row groups fills them in, the third reads them: values of every type, in the order of the files', async () => {
    const answers = await askThrice({}, digest('*'));
    expect(isCached(answers)).toEqual([false, false, true]);
    expect(answers[2]?.numbers).toEqual(answers[0]?.numbers);
    expect(cache.bytes).toBeGreaterThan(20_000 * 8 * 5);
  });

  const compare = (name: string, op: 'eq' | 'lt' | 'ge', value: bigint): Predicate => ({
    kind: 'compare',
    op,
    fieldId: idOf(name),
    value,
  });

  test.each<[string, string, Predicate]>([
    ['k = 13000', 'k', compare('k', 'eq', 13_000n)],
    ['k = 13001', 'k', compare('k', 'eq', 13_001n)],
    ['n = 77', 'n', compare('n', 'eq', 77n)],
    ['n IS NULL AND k < 100', 'n', { kind: 'isNull', fieldId: idOf('n') }],
    ["day = DATE '1969-12-31'", 'day', compare('day', 'eq', -1n)],
    ["ts < TIMESTAMP '1969-12-31 23:59:50.01'", 'ts', compare('ts', 'lt', -9_990_000n)],
    ["zoned >= TIMESTAMPTZ '1970-01-01 00:00:00.019+00'", 'zoned', compare('zoned', 'ge', 19_000n)],
    ['price = -12.25', 'price', compare('price', 'eq', -1_225n)],
  ])('WHERE %s: rows that cannot match are left out, all others are there', async (condition, name, predicate) => {
    const readFieldIds = [idOf('k'), ...(name === 'k' ? [] : [idOf(name)])];
    const answers = await askThrice({ predicate, readFieldIds }, digest(`k, "${name}"`, ` WHERE ${condition}`));
    expect(isCached(answers)).toEqual([false, false, true]);
    expect(answers[2]?.numbers).toEqual(answers[0]?.numbers);
  });

  test('of 20,000 rows DuckDB gets the 2,048 among which a key is', async () => {
    const read = { predicate: compare('k', 'eq', 26_000n), readFieldIds: [idOf('k')] };
    const answers = await askThrice(read, 'SELECT count(k) FROM t');
    expect(answers.map(({ numbers }) => numbers)).toEqual([[10_000], [10_000], [2_048]]);
  });

  test('a column that the plan did not name is not read from the cache, now or later', async () => {
    const read = { readFieldIds: [idOf('k')] };
    expect(isCached(await askThrice(read, 'SELECT sum(k)::BIGINT FROM t'))).toEqual([false, false, true]);
    const [missed, ...later] = await askThrice(read, 'SELECT sum(k)::BIGINT, max(length(s)) FROM t');
    expect(missed).toMatchObject({ isCached: true, missed: true });
    expect(isCached(later)).toEqual([false, false]);
  });

  test('statements of all sorts leave the values as they are', async () => {
    // The list of all rows needs every column: of a plain count DuckDB would compute none.
    const statements = [
      'SELECT DISTINCT n, s, b FROM t ORDER BY ALL',
      'SELECT n, s, row_number() OVER (ORDER BY s, k) AS r FROM t ORDER BY n NULLS FIRST, k DESC',
      'SELECT a.* FROM (SELECT * FROM t) AS a JOIN range(5) AS r(i) ON a.n = r.i ORDER BY a.k',
      "SELECT unnest(list_sort(list, 'DESC')), upper(s), f + 1, NOT b FROM t",
      "SELECT coalesce(n, 0), nullif(s, 'x'), list || [1], {'a': s, 'b': list} FROM t LIMIT 3000",
      'SELECT * FROM t',
    ].map((sql) => `SELECT count(*), (hash(list(q)) >> 12)::BIGINT FROM (${sql}) AS q`);
    cache = new RowCache(0);
    const ofFiles: (readonly number[])[] = [];
    for (const sql of statements) ofFiles.push(ask(await print({}), sql).numbers);
    cache = new RowCache(32 * MIB);
    await askThrice({}, digest('*'));
    for (const [i, sql] of statements.entries())
      expect(ask(await print({}), sql)).toEqual({ isCached: true, numbers: ofFiles[i], missed: false });
  });

  test('scans of other columns share what is there', async () => {
    await askThrice({ readFieldIds: [idOf('k'), idOf('s')] }, 'SELECT k, s FROM t');
    const before = cache.bytes;
    const read = { readFieldIds: [idOf('s')] };
    expect(ask(await print(read), 'SELECT max(length(s)) FROM t').isCached).toBe(true);
    expect(cache.bytes).toBe(before);
  });

  test('a tenant and a table have their own', async () => {
    await askThrice({}, 'SELECT max(k) FROM t');
    for (const other of [{ tenant: 'globex' }, { tableUuid: 'v' }]) {
      expect(ask(await print(other), 'SELECT max(k) FROM t').isCached).toBe(false);
    }
  });
});

describe('limits', () => {
  test('texts for which a short dictionary stands are not copied beside the chunk in which DuckDB gives them', async () => {
    const before = process.resourceUsage().maxRSS;
    const long = { files: ['long'], readFieldIds: [idOf('s')] };
    expect(isCached(await askThrice(long, 'SELECT max(length(s)) FROM t'))).toEqual([false, false, false]);
    // All of them are 586 MiB, which DuckDB writes out itself for each chunk.
    expect((process.resourceUsage().maxRSS - before) / 1_024).toBeLessThan(800);
  });

  test('a column that takes more than its share of the cache is read from its file', async () => {
    cache = new RowCache(MIB / 2);
    const answers = await askThrice({ readFieldIds: [idOf('s')] }, 'SELECT max(length(s)) FROM t');
    expect(isCached(answers)).toEqual([false, false, false]);
    expect(cache.bytes).toBe(0);
    expect(isCached(await askThrice({ readFieldIds: [idOf('n')] }, 'SELECT max(n) FROM t'))).toEqual([
      false,
      false,
      true,
    ]);
  });

  test('what was read longest ago leaves', async () => {
    cache = new RowCache(MIB / 2);
    const one = { files: ['one'], readFieldIds: [idOf('k'), idOf('n'), idOf('day'), idOf('ts'), idOf('f')] };
    expect(isCached(await askThrice(one, 'SELECT count(k), count(n), count(day), count(ts), count(f) FROM t'))).toEqual(
      [false, false, true],
    );
    for (const name of COLUMNS.slice(0, 8).map(([column]) => column)) {
      await askThrice({ files: ['two'], readFieldIds: [idOf(name)] }, `SELECT count("${name}") FROM t`);
      expect(cache.bytes).toBeLessThanOrEqual(MIB / 2);
    }
    expect(ask(await print(one), 'SELECT count(k), count(n), count(day), count(ts), count(f) FROM t').isCached).toBe(
      false,
    );
  });

  test('what a task reads stays until its end, although the cache has dropped it', async () => {
    const read = { readFieldIds: [idOf('k')] };
    await askThrice(read, 'SELECT sum(k)::BIGINT FROM t');
    using held = new CachedScans(cache, [await print(read)]);
    cache.clear();
    expect(cache.bytes).toBe(0);
    const text = held.open(instance, 0).get(0)?.replace(LATE_FALSE, 'false') ?? '';
    const sum = `SELECT sum(k)::BIGINT FROM ${text} AS t`;
    expect(instance.connection.readNumbers(sum)).toEqual([2 * ROWS * (2 * ROWS - 1)]);
    instance.inputs.clear();
  });

  test('files with deletes are read from their files, and a cache of no size holds nothing', async () => {
    const deletes = [
      { kind: 'equality', path: join(dir, 'two.parquet'), sizeBytes: 1, columns: [columns[0]] },
    ] as never;
    expect((await print({ deletes })).cacheable).toBeUndefined();
    expect((await print({})).cacheable).toBeDefined();
    cache = new RowCache(0);
    expect(isCached(await askThrice({}, 'SELECT max(k) FROM t'))).toEqual([false, false, false]);
  });
});
