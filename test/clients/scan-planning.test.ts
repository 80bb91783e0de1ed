import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '#shared/json.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { compileJava, java, mavenClasspath } from '#test/support/java.ts';
import { python } from '#test/support/python.ts';

/** Output of `scan_planning.py`: tables of every partition transform, planned by the catalog and by PyIceberg itself. */
type Planned = {
  readonly filters: readonly Compared[];
  readonly deletes: Readonly<Record<'equality' | 'vector', PlannedDelete>>;
  readonly appends: readonly [files: number, areThoseOfTheAppends: boolean, areThoseOfThen: boolean];
};
type Compared = {
  readonly table: string;
  readonly filter: string;
  readonly files: number;
  /** Set when PyIceberg could not plan the scan, for example because it compared None with text. */
  readonly theirs_failed?: string;
  readonly answers: number;
  readonly equal: boolean;
  /** Files that were not planned although PyIceberg finds a matching row in them. */
  readonly missing: readonly string[];
  readonly only_ours: readonly string[];
  readonly only_theirs: readonly string[];
  readonly deletes_differ: readonly string[];
  readonly kept: number;
  readonly residual_is_filter: boolean;
  /** Whether PyIceberg's own use of the catalog's planning gives the same files; or the error. */
  readonly through_client: boolean | string;
};
type PlannedDelete = { readonly data: string; readonly delete: string; readonly answer: JsonObject };

const SEED = 20_261_121;
const FILTERS_PER_TABLE = 25;

let catalog: TestCatalog;
let planned: Planned;
beforeAll(async () => {
  // Few files per answer, so that most plans take several answers.
  catalog = await startTestCatalog({ 'catalog.plan_files_per_task': 4 });
  const args = [catalog.running.url, catalog.token, String(SEED), String(FILTERS_PER_TABLE)];
  planned = JSON.parse(await python('test/clients/scan_planning.py', ...args)) as Planned;
}, 600_000);
afterAll(() => catalog?.[Symbol.asyncDispose]());

const compared = (): readonly Compared[] => planned.filters.filter((one) => one.theirs_failed === undefined);

describe("a plan's files, for generated filters over every partition transform", () => {
  test('equal those that PyIceberg plans itself', () => {
    const unequal = compared().filter(({ equal }) => !equal);
    expect(compared().length - unequal.length).toBeGreaterThan(200);
    expect(compared().flatMap((one) => one.deletes_differ)).toEqual([]);
    // For Skein NaN is greater than every number, so it keeps a file that may hold NaN; PyIceberg looks at the bounds only.
    const isAboutFloats = ({ filter }: Compared): boolean => /'(ratio|part)'/.test(filter);
    expect(unequal.filter((one) => one.only_ours.length > 0 && !isAboutFloats(one))).toEqual([]);
    // Skein leaves out a file whose only value is the one of `<>`; PyIceberg reads it. A test below proves that no row matches.
    const isAboutOthers = ({ filter }: Compared): boolean => /Not/.test(filter);
    expect(unequal.filter((one) => one.only_theirs.length > 0 && !isAboutOthers(one))).toEqual([]);
  });

  test('leave out no file that has a matching row', () => {
    expect(planned.filters.length).toBe(11 * FILTERS_PER_TABLE);
    expect(compared().filter(({ missing }) => missing.length > 0)).toEqual([]);
    // The filters prune some files, but not all.
    const pruned = compared().filter(({ kept, files }) => kept < files);
    expect(pruned.length).toBeGreaterThan(100);
    expect(compared().filter(({ kept }) => kept > 0).length).toBeGreaterThan(150);
    expect(compared().filter(({ answers }) => answers > 1).length).toBeGreaterThan(100);
    expect(compared().every((one) => one.residual_is_filter)).toBe(true);
    expect(planned.filters.length - compared().length).toBeLessThan(15);
  });

  test('are what PyIceberg gets when it leaves the planning to the catalog', () => {
    // PyIceberg 0.12 refuses a partition value of null.
    const failed = compared().filter((one) => one.through_client !== true);
    expect(failed.filter((one) => !/input_value=None|data-file\.partition/.test(String(one.through_client)))).toEqual(
      [],
    );
    expect(compared().length - failed.length).toBeGreaterThan(100);
    const whole = compared().filter(({ table }) => table === 'whole' || table === 'plain' || table === 'deleted');
    expect(whole.map((one) => one.through_client)).toEqual(whole.map(() => true));
  });
});

test('an incremental scan has the files that the appends after its start added; an older snapshot has its own', () => {
  expect(planned.appends).toEqual([3, true, true]);
});

test('equality deletes and deletion vectors come with the files that they apply to', () => {
  const { equality, vector } = planned.deletes;
  const common = { 'spec-id': 0, partition: [] };
  expect(equality.answer).toMatchObject({
    status: 'completed',
    'delete-files': [
      {
        ...common,
        content: 'equality-deletes',
        'file-path': equality.delete,
        'file-format': 'parquet',
        'equality-ids': [1],
      },
    ],
    'file-scan-tasks': [
      {
        'data-file': { ...common, content: 'data', 'file-path': equality.data, 'record-count': 3 },
        'delete-file-references': [0],
        'residual-filter': true,
      },
    ],
  });
  expect(vector.answer).toMatchObject({
    'delete-files': [
      {
        content: 'position-deletes',
        'file-format': 'puffin',
        'file-path': vector.delete,
        'referenced-data-file': vector.data,
        'content-offset': 4,
        'record-count': 2,
      },
    ],
    'file-scan-tasks': [
      { 'data-file': { 'file-path': vector.data, 'first-row-id': 0 }, 'delete-file-references': [0] },
    ],
  });
});

test("Iceberg's Java library plans the same files through the catalog as on its own", async () => {
  const kit = await mavenClasspath('test/conformance/rest-kit/pom.xml');
  const classpath = `${await compileJava('test/clients/ServerPlanning.java', kit)}:${kit}`;
  const quiet = { 'org.slf4j.simpleLogger.defaultLogLevel': 'error' };
  const args = [catalog.running.url, catalog.token, 'planned', String(SEED), String(FILTERS_PER_TABLE)];
  const { code, stdout, stderr } = await java(classpath, quiet, ['ServerPlanning', ...args]);
  expect(code, stderr).toBe(0);
  const scans = stdout
    .trim()
    .split('\n')
    .map((line) => line.split('\t'));
  expect(scans.length).toBe(11 * (FILTERS_PER_TABLE + 1));
  expect(new Set(scans.map(([, , , , scan]) => scan))).toEqual(new Set(['RESTTableScan']));
  // For a null partition the library itself fails on a list of strings.
  const judged = scans.filter(([, verdict]) => verdict !== 'failed');
  expect(scans.length - judged.length).toBeLessThan(10);
  expect(judged.filter(([, verdict]) => verdict !== 'equal').map((scan) => scan.join(' '))).toEqual([]);
}, 600_000);
