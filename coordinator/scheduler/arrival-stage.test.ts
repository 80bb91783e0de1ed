import { expect, test } from 'vitest';
import { cluster, ran } from '#test/support/scripted/staged-query.ts';
import { queryRun } from '#test/support/scripted/query-run.ts';
import { EMPTY_REPORT } from '#shared/iceberg/planning.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';
import { must } from '#shared/must.ts';
import { taskReport } from '#test/support/scripted/worker.ts';
import type { WriteSink } from '#shared/task/task.ts';
import type { TableRows } from '../binding/table-rows.ts';
import { runWhole } from './run-whole.ts';

/** Two parts of rows, whose messages are one byte each: their number. */
const ROWS: TableRows = {
  title: 'rows',
  columns: [{ name: 'c0', type: { kind: 'scalar', name: 'INTEGER' } }],
  rowCount: 20,
  bytes: 2,
  messages: [],
  parts: [0, 1].map((part) => ({ rowCount: 10, bytes: 1, read: () => Promise.resolve([Uint8Array.of(part)]) })),
};

const TABLE = {
  schema: '{}',
  spec: '{}',
  folder: '/t/data',
  allowedRoots: ['/t'],
  credential: FILE_CREDENTIAL,
  codec: null,
  codecLevel: null,
  rowGroupRows: 1,
  fileBytes: 1,
  keepsOrder: false,
};
const SINK: WriteSink = { kind: 'table', sink: TABLE };

const FRAGMENT = {
  stage: 0,
  plan: null,
  partitions: 1,
  sql: ['result ', { scan: 0 }],
  scans: [{ scan: 0, read: 'all' }],
  inputs: [],
  tasks: { kind: 'single' },
  width: 1,
  collected: false,
  repeatable: false,
} as const;

const write = () => ({
  ...queryRun(),
  sink: SINK,
  fragment: FRAGMENT,
  scans: [{ kind: 'rows' as const, rows: ROWS, report: { ...EMPTY_REPORT, rows: 20, bytes: 2 } }],
});

const carried = () => ran.filter(({ spec }) => spec.sql[0] !== 'result ');
const results = () => ran.filter(({ spec }) => spec.sql[0] === 'result ');
const sentBytes = (tasks: typeof ran): readonly number[] =>
  tasks.flatMap(({ spec }) =>
    spec.inputs.flatMap(({ sources }) => sources.flatMap(({ messages = [] }) => [...(messages[0] ?? [])])),
  );

test('each part is carried by a task to one worker, and the query reads what these keep', async () => {
  const { scheduler } = await cluster(2);
  await runWhole(scheduler, write());
  expect(sentBytes(carried())).toEqual([0, 1]);
  expect(new Set(carried().map(({ worker }) => worker)).size).toBe(1);
  const [result] = results();
  const sources = must(result?.spec.inputs[0], 'it reads the rows').sources;
  expect(new Set(sources.map(({ taskId }) => taskId))).toEqual(new Set(carried().map(({ spec }) => spec.taskId)));
  expect(sources.map(({ rows }) => rows)).toEqual([10, 10]);
  expect(sources.every(({ messages }) => messages === undefined)).toBe(true);
});

test('parts whose worker is lost are carried again to another', async () => {
  let isKilled = false;
  const { scheduler } = await cluster(2, {
    spool: async (spec, worker, cancelled) => {
      if (spec.sql[0] !== 'result ' || isKilled) return { report: taskReport(spec, 10) };
      isKilled = true;
      worker.kill();
      await new Promise((resolve) => cancelled.addEventListener('abort', resolve));
      return undefined;
    },
  });
  await runWhole(scheduler, write());
  expect(sentBytes(carried()).toSorted((a, b) => a - b)).toEqual([0, 0, 1, 1]);
  const last = must(results().at(-1), 'it ran again');
  const holders = must(last.spec.inputs[0], 'it reads the rows').sources.map(({ address }) => address);
  expect(new Set(holders)).toEqual(new Set([last.worker]));
  expect(holders).toHaveLength(2);
});
