import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Fragment, StageFacts } from '../distributor/fragment.ts';
import type { StageRun } from './stage-run.ts';
import type { TaskOwner } from './task-spec.ts';

/** Stages that are remembered, and the partitions that one may have. */
const STAGES_MAX = 4_000;
const PARTITIONS_MAX = 64;

/** Times that a stage may give other rows than before, until it is not relied on any more. */
const CHANGES_MAX = 3;

/** What a stage gave: rows and bytes in all and of each partition, and its number of tasks. */
export type PastStage = Omit<StageFacts, 'output'>;

/** Names the work of a stage: what its tasks do, over which files, for whom. */
export type StageKey = string & { readonly brand: 'StageKey' };

/**
 * What stages of queries before gave: the same work over the same files gives the same rows again. What gave others a few times, because it
 * calls `random` or depends on how its input was divided, is not relied on any more.
 */
export class PastStages {
  readonly #stages = new LRUCache<StageKey, { readonly gave: PastStage; readonly changes: number }>({
    max: STAGES_MAX,
  });

  /** What the stage will give; undefined when that is not known. */
  recall(key: StageKey | null): PastStage | undefined {
    const past = key === null ? undefined : this.#stages.get(key);
    return past !== undefined && past.changes < CHANGES_MAX ? past.gave : undefined;
  }

  remember(key: StageKey | null, { rows, bytes, partitions, tasks }: PastStage): void {
    if (key === null || partitions.length > PARTITIONS_MAX) return;
    const gave = { rows, bytes, partitions, tasks };
    const past = this.#stages.get(key);
    if (past === undefined) this.#stages.set(key, { gave, changes: 0 });
    else if (!givesSame(past.gave, gave)) this.#stages.set(key, { gave, changes: past.changes + 1 });
  }
}

/** Whether a stage gave as many rows as another, in every partition. */
export const givesSame = (one: PastStage, other: PastStage): boolean =>
  one.partitions.length === other.partitions.length &&
  one.partitions.every(({ rows }, partition) => rows === other.partitions[partition]?.rows);

/** Makes the keys of a query's stages. */
export class StageKeys {
  readonly #owner: Pick<TaskOwner, 'tenant' | 'principal'>;
  readonly #keys = new WeakMap<StageRun<Fragment>, StageKey | null>();

  constructor(owner: Pick<TaskOwner, 'tenant' | 'principal'>) {
    this.#owner = owner;
  }

  /** The key of a stage; null when it reads what has no version: files of a stage, or rows that came with the statement. */
  of(run: StageRun<Fragment>): StageKey | null {
    const known = this.#keys.get(run);
    if (known !== undefined) return known;
    const key = this.#make(run);
    this.#keys.set(run, key);
    return key;
  }

  #make({ fragment, planned, producers }: StageRun<Fragment>): StageKey | null {
    const { tenant, principal } = this.#owner;
    const tables = planned.map((table) =>
      table.kind === 'files' && table.spec.staged === undefined
        ? [table.spec.tableUuid, table.spec.snapshotId, table.report.files]
        : null,
    );
    const read = producers.map((producer) => this.of(producer));
    if (tables.includes(null) || read.includes(null)) return null;
    const { sql, partitions, scans, inputs, tasks } = fragment;
    const reads = [scans.map((scan) => scan.read), inputs.map((input) => input.read)];
    const work = JSON.stringify([tenant, principal, sql, partitions, reads, tasks, tables, read]);
    return createHash('sha256').update(work).digest('base64') as StageKey;
  }
}
