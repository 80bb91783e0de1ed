import { expect, test } from 'vitest';
import { principalId, tenantId } from '#shared/id.ts';
import type { Fragment } from '../distributor/fragment.ts';
import { PastStages, StageKeys, type PastStage, type StageKey } from './past-stages.ts';
import type { StageRun } from './stage-run.ts';

const KEY = 'k' as StageKey;
const gave = (...rows: readonly number[]): PastStage => ({
  rows: 0,
  bytes: 0,
  partitions: rows.map((n) => ({ rows: n, bytes: n })),
  tasks: 2,
});

test('a stage gives what it gave the last time, until it has given something else a few times', () => {
  const past = new PastStages();
  expect(past.recall(KEY)).toBeUndefined();
  for (const rows of [
    [1, 2],
    [1, 2],
    [2, 1],
    [1, 1],
  ]) {
    past.remember(KEY, gave(...rows));
    expect(past.recall(KEY)).toEqual(gave(...rows));
  }
  for (const rows of [
    [1, 2],
    [1, 2],
  ]) {
    past.remember(KEY, gave(...rows));
    expect(past.recall(KEY)).toBeUndefined();
  }
});

test('a stage without a key, or of very many partitions, is not remembered', () => {
  const past = new PastStages();
  past.remember(null, gave(1));
  past.remember(KEY, gave(...Array.from({ length: 65 }, () => 1)));
  expect([past.recall(null), past.recall(KEY)]).toEqual([undefined, undefined]);
});

const OWNER = { tenant: tenantId('t'), principal: principalId('p') };
const spec = { tableUuid: 'u', snapshotId: '1' };

type Parts = {
  readonly sql?: string;
  readonly spec?: object;
  readonly kind?: string;
  readonly producers?: readonly StageRun<Fragment>[];
};

const run = (parts: Parts = {}): StageRun<Fragment> => {
  const fragment = {
    sql: [parts.sql ?? 'x'],
    partitions: 1,
    scans: [{ read: 'split' }],
    inputs: [],
    tasks: { kind: 'splits' },
  };
  const planned = [{ kind: parts.kind ?? 'files', spec: parts.spec ?? spec, report: { files: 1 } }];
  return { fragment, planned, producers: parts.producers ?? [] } as unknown as StageRun<Fragment>;
};
const keyOf = (one: StageRun<Fragment>, owner = OWNER): StageKey | null => new StageKeys(owner).of(one);

test('a key is of the text, the versions of the tables, what is read of other stages, and whose query it is', () => {
  const known = keyOf(run());
  expect(keyOf(run())).toBe(known);
  const others = [
    keyOf(run({ sql: 'y' })),
    keyOf(run({ spec: { ...spec, snapshotId: '2' } })),
    keyOf(run({ spec: { ...spec, tableUuid: 'v' } })),
    keyOf(run({ producers: [run()] })),
    keyOf(run({ producers: [run({ sql: 'y' })] })),
    keyOf(run(), { ...OWNER, tenant: tenantId('other') }),
    keyOf(run(), { ...OWNER, principal: principalId('other') }),
  ];
  expect(new Set([known, ...others]).size).toBe(8);
});

test('what has no version has no key, nor what reads it', () => {
  const rows = run({ kind: 'rows' });
  const staged = run({ spec: { ...spec, staged: {} } });
  expect([rows, staged, run({ producers: [staged] })].map((one) => keyOf(one))).toEqual([null, null, null]);
});
