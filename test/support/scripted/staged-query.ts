import type { StoreCredential } from '#shared/storage/credential.ts';
import { afterEach, expect, vi } from 'vitest';
import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import type { TaskSpec } from '#shared/task/task.ts';
import { plainSecurity } from '#shared/grpc/channel-security.ts';
import { DEFAULT_MLFQ } from '#shared/mlfq-spec.ts';
import { fixedKeyring } from '#shared/keyring.ts';
import { silentLogger } from '#shared/log/logger.ts';
import type { Member, Membership } from '#shared/membership/member.ts';
import { must } from '#shared/must.ts';
import { queryRun } from './query-run.ts';
import { SCRIPTED_RELEASE, startScriptedWorker, taskReport, type SpooledAnswer, type WorkerScript } from './worker.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';
import { WorkerPool } from '#coordinator/cluster/worker-pool.ts';
import type { DistributedPlan, Fragment } from '#coordinator/distributor/fragment.ts';
import { queryTimes } from '#coordinator/scheduler/query-times.ts';
import type { PlannedScan } from '#coordinator/scheduler/plan-scans.ts';
import { carrierGate, type Scheduler } from '#coordinator/scheduler/scheduler.ts';
import type { StagedQuery } from '#coordinator/scheduler/run-stages.ts';

export type Worker = Awaited<ReturnType<typeof startScriptedWorker>>;

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A task that a worker ran; `ran` lists them in the order in which they began. */
export type Ran = { readonly worker: string; readonly spec: TaskSpec };
export let ran: Ran[] = [];
export let retries = 0;

export type Behaviour = {
  readonly spool?: (spec: TaskSpec, worker: Worker, cancelled: AbortSignal) => Promise<SpooledAnswer | undefined>;
  readonly stream?: (spec: TaskSpec, worker: Worker) => Promise<void>;
  readonly cancel?: (worker: Worker) => Promise<void>;
};

const keyring = fixedKeyring('s');
const security = plainSecurity(keyring);

/** Long enough for a machine that has a lot to do. */
export const HEARTBEAT_TIMEOUT_MS = 1_500;

/** Scripted workers, and a scheduler that knows them; they end with the test. `behaviour` takes the tasks that they get. */
export async function cluster(
  count: number,
  behaviour: Behaviour = {},
  options: { readonly joinLater?: boolean; readonly cores?: number } = {},
) {
  ran = [];
  retries = 0;
  const workers: Worker[] = [];
  for (let i = 0; i < count; i += 1) {
    const script: WorkerScript = {
      secret: 's',
      cores: options.cores ?? 1,
      spool: async (spec, cancelled) => {
        const worker = must(workers[i], 'it has started');
        ran.push({ worker: worker.address, spec });
        worker.held.add(spec.queryId);
        return (await behaviour.spool?.(spec, worker, cancelled)) ?? { report: taskReport(spec, 10) };
      },
      cancel: async () => behaviour.cancel?.(must(workers[i], 'it has started')),
      output: async function* (spec) {
        const worker = must(workers[i], 'it has started');
        ran.push({ worker: worker.address, spec });
        await behaviour.stream?.(spec, worker);
        yield { app_metadata: Buffer.from(JSON.stringify(taskReport(spec, 0))) };
      },
    };
    workers.push(await startScriptedWorker(script));
  }
  const running: Scheduler['running'] = new Map();
  const known = workers.map(({ address }): Member => ({ kind: 'worker', id: address, name: address, address }));
  let tell: (members: readonly Member[]) => void = () => undefined;
  const membership: Membership = {
    watch: (_kind, onChange) => {
      tell = onChange;
      onChange(options.joinLater === true ? known.slice(0, 1) : known);
    },
    close: () => Promise.resolve(),
  };
  const pool = new WorkerPool(membership, {
    security,
    coordinatorId: 'c',
    epoch: 1,
    heartbeatIntervalMs: 50,
    heartbeatTimeoutMs: HEARTBEAT_TIMEOUT_MS,
    mlfq: () => DEFAULT_MLFQ,
    release: SCRIPTED_RELEASE,
    log: silentLogger,
    ...queryTimes({ running, epoch: 1, ending: () => [] }),
  });
  closers.push(() => pool.close(), ...workers.map((w) => w.kill));
  await vi.waitFor(() => expect(pool.liveCount()).toBe(options.joinLater === true ? 1 : count));
  const onRetry = (): void => void (retries += 1);
  const scheduler = {
    pool,
    keyring,
    epoch: 1,
    spillLimitBytes: 1,
    taskBytesMax: 100_000,
    workerWaitMs: 10_000,
    carriers: carrierGate(),
    onRetry,
    renewKey: (_tenant: string, key: StoreCredential) => Promise.resolve(key),
    running,
  };
  /** Tells the coordinator of the workers that it does not know yet, and waits until they are live. */
  const join = async (): Promise<void> => {
    tell(known);
    await vi.waitFor(() => expect(pool.liveCount()).toBe(count));
  };
  return { scheduler, workers, join };
}

export const fragment = (changes: Partial<Fragment>): Fragment => ({
  stage: 0,
  plan: { kind: 'oneRow' },
  output: { kind: 'hash', keys: [], spreadNulls: false },
  partitions: 2,
  fields: [],
  sql: ['stage 0'],
  scans: [{ scan: 0, read: 'split' }],
  inputs: [],
  tasks: { kind: 'splits' },
  width: 1,
  collected: false,
  repeatable: true,
  estimate: { rows: 1, bytes: 1 },
  reason: '',
  ...changes,
});

/** So large that no slot takes its whole share in one batch. */
export const FILES = Array.from({ length: 6 }, (_, i): ScanFile => ({
  path: `f${i}`,
  recordCount: 10,
  sizeBytes: 64 * 2 ** 20,
  rows: null,
  constants: {},
  deletes: [],
  firstRowId: null,
}));

/** Files -> hash in two partitions -> hash in two partitions -> the result. */
export const FRAGMENTS: readonly Fragment[] = [
  fragment({}),
  fragment({
    stage: 1,
    sql: ['stage 1'],
    scans: [],
    inputs: [{ stage: 0, read: 'partition', fields: [], reads: 1 }],
    tasks: { kind: 'partitions' },
  }),
  fragment({
    stage: 2,
    output: null,
    sql: ['stage 2'],
    scans: [],
    inputs: [{ stage: 1, read: 'partition', fields: [], reads: 1 }],
    tasks: { kind: 'partitions' },
  }),
];

/** A query whose plan is these fragments, whatever its stages give. */
export function query(changes: Partial<StagedQuery> = {}, fragments = FRAGMENTS): StagedQuery {
  const distributed: DistributedPlan = {
    kind: 'distributed',
    source: { kind: 'oneRow' },
    plan: { kind: 'oneRow' },
    fragments,
    joins: [],
    replacements: [],
    nextStage: fragments.length,
  };
  const scan = {
    spec: {
      tableName: 't',
      allowedRoots: ['/'],
      credential: FILE_CREDENTIAL,
      predicate: { kind: 'true' },
      columns: [],
      files: FILES,
    },
  };
  return {
    ...queryRun(),
    distributed,
    scans: [scan as unknown as PlannedScan],
    barriers: [],
    inlinesPolicies: false,
    scanFacts: [],
    settings: { distribution: 'force', joinDistribution: 'auto', partitions: 2, stageWidth: 1 },
    distributor: { distribute: () => distributed, advance: () => distributed.source },
    check: () => Promise.resolve(null),
    onRefused: () => undefined,
    rescan: () => Promise.resolve(new Map()),
    ...changes,
  };
}

export const tasksOf = (stage: number): readonly Ran[] => ran.filter(({ spec }) => spec.sql[0] === `stage ${stage}`);
export const filesOf = (tasks: readonly Ran[]): readonly string[] =>
  tasks.flatMap(({ spec }) => spec.scans.flatMap(({ files }) => files.map(({ path }) => path))).toSorted();
export const ended = (workers: readonly Worker[], runs: ReadonlySet<string>) =>
  vi.waitFor(() => expect(workers.every((worker) => [...runs].every((id) => worker.ended.includes(id)))).toBe(true));
export const runIds = (): ReadonlySet<string> => new Set(ran.map(({ spec }) => spec.queryId));

/** Forgets the tasks that ran so far. */
export function forgetRan(): void {
  ran = [];
}
