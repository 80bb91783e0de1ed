import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { preparedArrow, queryArrow } from '#test/support/duckdb-ipc.ts';
import type { PreparedStatement } from './statement.ts';
import { InstancePool, type Confined, type TaskLimits } from './instance-pool.ts';

const MIB = 2 ** 20;
let dir: string;
let pool: InstancePool;
const folder = (name: string): string => join(dir, name);

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'skein-pool-'));
  pool = new InstancePool(join(dir, 'spill'), { countMax: 2, bytesMax: 32 * MIB, afterMs: 5_000 });
  for (const name of ['a', 'b', 'c']) mkdirSync(folder(name));
});

afterEach(() => {
  pool[Symbol.dispose]();
  rmSync(dir, { recursive: true, force: true });
});

const limits: TaskLimits = {
  memoryBytes: 2 ** 28,
  spillBytes: 2 ** 30,
  threads: 1,
  profile: 'none',
  bounds: [],
  keepJoinOrder: false,
  unsound: { optimizers: [], windows: false },
  context: { nowMicros: '0', timeZone: 'UTC', currentUser: 'u', currentCatalog: 'c', currentSchema: 's' },
};

/** An instance as a task has it that may use the usual memory. */
function acquire(tenant: string, folders: readonly string[], memoryBytes = limits.memoryBytes): Confined {
  const confined = pool.acquire({ tenant, writes: false }, folders, memoryBytes);
  confined.instance.configure({ ...limits, memoryBytes });
  return confined;
}

const canWrite = ({ instance }: Confined, name: string): boolean => {
  try {
    instance.connection.run(`COPY (SELECT 1) TO '${folder(name)}/x.parquet'`);
    return true;
  } catch {
    return false;
  }
};

/** A statement's own `current_setting` knows no setting of DuckDB. */
const THREADS = "(SELECT value FROM duckdb_settings() WHERE name = 'threads')::BIGINT";

test('an instance serves one tenant only, and is used again', () => {
  const first = acquire('acme', [folder('a')]);
  pool.release(first, 0);
  const other = acquire('globex', [folder('a')]);
  expect(other.instance).not.toBe(first.instance);
  expect(acquire('acme', [folder('a')]).instance).toBe(first.instance);
});

test('it may read only the folders that its tenant asked for, and this never changes', () => {
  const first = acquire('acme', [folder('a')]);
  expect([canWrite(first, 'a'), canWrite(first, 'b')]).toEqual([true, false]);
  pool.release(first, 0);
  const second = acquire('acme', [folder('b')]);
  expect(second.instance).not.toBe(first.instance);
  expect([canWrite(second, 'a'), canWrite(second, 'b'), canWrite(second, 'c')]).toEqual([true, true, false]);
  pool.release(second, 0);
  expect(acquire('acme', [folder('a'), folder('b')]).instance).toBe(second.instance);
  const foreign = acquire('globex', [folder('c')]);
  expect([canWrite(foreign, 'a'), canWrite(foreign, 'c')]).toEqual([false, true]);
  for (const [sql, message] of [
    ["SET allowed_directories = ['/']", 'enable_external_access is disabled'],
    ['SET enable_external_access = true', 'Cannot enable external access'],
    ["ATTACH '/tmp/skein-no.db'", 'file system operations are disabled'],
    ['INSTALL httpfs', 'file system operations are disabled'],
  ] as const) {
    expect(() => foreign.instance.connection.run(sql), sql).toThrow(message);
  }
});

test('a task gets the instance that had its limit of memory before; with no room for one more, any of its tenant', () => {
  const [big, small] = [acquire('acme', [], 2 ** 28), acquire('acme', [], 2 ** 27)];
  pool.release(big, 0);
  pool.release(small, 0);
  const again = acquire('acme', [], 2 ** 28);
  expect(again.instance).toBe(big.instance);
  pool.release(again, 0);
  expect(acquire('acme', [], 2 ** 26).instance).toBe(big.instance);
  const third = acquire('acme', [], 2 ** 26);
  expect([big.instance, small.instance]).not.toContain(third.instance);
});

test('a task has its own limits and its own now', () => {
  const { instance } = acquire('acme', []);
  instance.configure(limits);
  instance.configure({ ...limits, memoryBytes: 2 ** 27, context: { ...limits.context, nowMicros: '86400000000' } });
  const numbers = instance.connection.readNumbers(`SELECT epoch(now())::BIGINT, ${THREADS}`);
  expect(numbers).toEqual([86_400, 1]);
  const { stream } = queryArrow(
    instance.connection,
    "SELECT value AS m FROM duckdb_settings() WHERE name = 'memory_limit'",
  );
  expect(Buffer.from(stream).toString()).toContain('128.0 MiB');
});

test('cores can be changed from aside while a statement runs', () => {
  const { instance } = acquire('acme', []);
  instance.configure({ ...limits, threads: 2 });
  instance.useThreads(1);
  expect(instance.connection.readNumbers(`SELECT ${THREADS}`)).toEqual([1]);
  instance.configure({ ...limits, threads: 2 });
  expect(instance.connection.readNumbers(`SELECT ${THREADS}`)).toEqual([2]);
});

test('the one unused for longest goes, and its spill folder with it', () => {
  const three = ['x', 'y', 'z'].map((tenant) => acquire(tenant, []));
  expect(readdirSync(join(dir, 'spill'))).toHaveLength(3);
  for (const one of three) pool.release(one, 0);
  expect(readdirSync(join(dir, 'spill'))).toEqual(['instance-2', 'instance-3']);
  pool[Symbol.dispose]();
  expect(existsSync(join(dir, 'spill', 'instance-2'))).toBe(false);
});

const fill = ({ instance }: Confined, mebibytes: number): void =>
  instance.connection.run(`CREATE TEMP TABLE filled AS SELECT hash(i) AS h FROM range(${mebibytes * 131_072}) t(i)`);

test('instances that are idle for a while keep no more memory than they may, the latest used first', () => {
  const [old, young] = [acquire('acme', [folder('a')]), acquire('acme', [folder('a')])];
  fill(old, 20);
  fill(young, 16);
  pool.release(old, 0);
  pool.release(young, 1_000);
  expect(pool.trim(5_999)).toBe(false);
  expect(pool.trim(6_000)).toBe(true);
  expect(pool.trim(60_000)).toBe(false);
  expect(acquire('acme', [folder('a')]).instance).toBe(young.instance);
  expect(existsSync(join(dir, 'spill', 'instance-1'))).toBe(false);
});

test('of many instances that are idle for a while the four used last stay, because each holds some megabytes that no limit counts', () => {
  const wide = new InstancePool(join(dir, 'wide'), { countMax: 16, bytesMax: 1_024 * MIB, afterMs: 5_000 });
  const tenants = ['a', 'b', 'c', 'd', 'e', 'f'];
  const all = tenants.map((tenant) => wide.acquire({ tenant, writes: false }, [], limits.memoryBytes));
  for (const one of all) one.instance.configure(limits);
  all.forEach((one, i) => wide.release(one, i));
  expect(wide.trim(5_003)).toBe(false);
  expect(wide.trim(5_006)).toBe(true);
  expect(readdirSync(join(dir, 'wide'))).toEqual([3, 4, 5, 6].map((i) => `instance-${i}`));
  wide[Symbol.dispose]();
});

test('at need all that is idle goes', () => {
  pool.release(acquire('acme', [folder('a')]), 0);
  expect(pool.closeIdle()).toBe(true);
  expect(pool.closeIdle()).toBe(false);
});

/** Runs a query as a task does: with the instance's own statement, which it keeps. */
function run({ instance }: Confined, sql: string): { readonly prepared: PreparedStatement; readonly answer: string } {
  const prepared = instance.prepare(sql);
  const { stream } = preparedArrow(prepared, instance.instance);
  instance.keep(sql, prepared);
  return { prepared, answer: Buffer.from(stream).toString('latin1') };
}

test('a text that comes again is not prepared again, unless a setting has changed or many others came between', () => {
  const one = acquire('acme', []);
  const first = run(one, 'SELECT 1').prepared;
  expect(run(one, 'SELECT 1').prepared).toBe(first);
  one.instance.configure(limits);
  expect(run(one, 'SELECT 1').prepared).toBe(first);
  for (let i = 2; i < 5; i++) run(one, `SELECT ${i}`);
  expect(run(one, 'SELECT 1').prepared).toBe(first);
  for (let i = 5; i < 9; i++) run(one, `SELECT ${i}`);
  const second = run(one, 'SELECT 1').prepared;
  expect(second).not.toBe(first);
  one.instance.configure({ ...limits, spillBytes: 2 ** 20 });
  expect(run(one, 'SELECT 1').prepared).not.toBe(second);
  const long = `SELECT '${'x'.repeat(70_000)}'`;
  expect(run(one, long).prepared).not.toBe(run(one, long).prepared);
  // A constant of megabytes in the plan.
  const slow = 'SELECT (range(100000))[r] FROM range(2) t(r)';
  expect(run(one, slow).prepared).not.toBe(run(one, slow).prepared);
});

test('a statement that was kept reads its user, its time and its tables anew', () => {
  const one = acquire('acme', []);
  const answers = (sql: string, change: () => void): number => {
    const before = run(one, sql).answer;
    change();
    return new Set([before, run(one, sql).answer]).size;
  };
  const { context } = limits;
  const nothing = (): void => undefined;
  expect(answers('SELECT 1', nothing)).toBe(1);
  expect(answers('SELECT random()', nothing)).toBe(2);
  expect(answers('SELECT uuid()', nothing)).toBe(2);
  const later = { ...context, nowMicros: '1', currentUser: 'v' };
  expect(answers('SELECT now()', () => one.instance.configure({ ...limits, context: later }))).toBe(2);
  expect(answers('SELECT current_user', () => one.instance.configure(limits))).toBe(2);
  one.instance.connection.run('CREATE TABLE t AS SELECT 1 AS a');
  expect(answers('SELECT a FROM t', () => one.instance.connection.run('UPDATE t SET a = 2'))).toBe(2);
  const remade = (): void => one.instance.connection.run("DROP TABLE t; CREATE TABLE t AS SELECT 'x' AS a");
  expect(answers('SELECT a FROM t', remade)).toBe(2);
});
