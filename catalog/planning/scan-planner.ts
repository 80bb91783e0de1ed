import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#shared/clock.ts';
import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import type { TenantId } from '#shared/id.ts';
import { LruManifestCache } from '#shared/iceberg/manifest-cache.ts';
import { planAppended, planEntries, type PlannedEntry } from '#shared/iceberg/plan-files.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';
import type { FileIo } from '#shared/storage/file-io.ts';
import { predicateOf, type PlannedScan } from './plan-request.ts';

/** The table that is scanned. */
export type ScannedTable = {
  readonly tenant: TenantId;
  readonly metadata: TableMetadata;
  readonly roots: readonly string[];
};

type Plan = {
  readonly entries: Promise<readonly PlannedEntry[]>;
  readonly abort: AbortController;
  readonly expiresMs: number;
  files: number;
};

/** Plans that wait for one of `catalog.plans_at_once` places. */
const WAITING_MAX = 1_000;

/**
 * Plans scans in this process and keeps their results for a while. What is kept is a cache: a plan whose request is known can be made
 * again, here or in another process, and comes out the same, because a snapshot never changes.
 */
export class ScanPlanner {
  readonly #config: Config;
  readonly #clock: Clock;
  readonly #io: FileIo;
  readonly #manifests: LruManifestCache;
  readonly #plans = new Map<string, Plan>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(parts: { readonly config: Config; readonly clock: Clock; readonly io: FileIo }) {
    this.#config = parts.config;
    this.#clock = parts.clock;
    this.#io = parts.io;
    this.#manifests = new LruManifestCache(parts.config['catalog.manifest_cache_bytes']);
  }

  /**
   * The files of a plan, made now unless they are known; undefined when that takes longer than `waitMs`: it goes on, and a later call
   * finds them.
   * @throws QUEUE_FULL, NOT_SUPPORTED, INVALID_TABLE_DATA, STORAGE_ERROR
   */
  async entries(
    planId: string,
    table: ScannedTable,
    scan: PlannedScan,
    waitMs: number,
  ): Promise<readonly PlannedEntry[] | undefined> {
    this.#evict();
    const plan = this.#plans.get(planId) ?? this.#start(planId, table, scan);
    const patience = new AbortController();
    try {
      const late = sleep(waitMs, undefined, { signal: patience.signal, ref: false }).catch(() => undefined);
      return await Promise.race([plan.entries, late]);
    } finally {
      patience.abort();
    }
  }

  /** Forgets a plan, and stops it if it still runs. */
  forget(planId: string): void {
    this.#plans.get(planId)?.abort.abort();
    this.#plans.delete(planId);
  }

  #start(planId: string, table: ScannedTable, scan: PlannedScan): Plan {
    if (this.#waiting.length >= WAITING_MAX) throw new SkeinError('QUEUE_FULL', 'too many scans wait to be planned');
    const abort = new AbortController();
    const plan: Plan = {
      abort,
      expiresMs: this.#clock.nowMs() + this.#config['catalog.plan_ttl'],
      files: 0,
      entries: this.#run(table, scan, abort.signal),
    };
    this.#plans.set(planId, plan);
    void this.#account(planId, plan);
    return plan;
  }

  async #account(planId: string, plan: Plan): Promise<void> {
    try {
      plan.files = (await plan.entries).length;
      this.#evict();
    } catch {
      // Who waits for it has the error; who asks for it again gets it tried again.
      if (this.#plans.get(planId) === plan) this.#plans.delete(planId);
    }
  }

  async #run(table: ScannedTable, scan: PlannedScan, cancelled: AbortSignal): Promise<readonly PlannedEntry[]> {
    const { tenant, metadata, roots } = table;
    const schema = metadata.schemas.find(({ schemaId }) => schemaId === scan.schemaId);
    const ids = scan.snapshotIds.map(BigInt);
    if (schema === undefined || ids.some((id) => !metadata.snapshots.has(id))) {
      throw new SkeinError('PLAN_NOT_FOUND', 'The snapshot or schema of the scan is no longer part of the table');
    }
    const timeout = AbortSignal.timeout(this.#config['catalog.plan_timeout']);
    const signal = AbortSignal.any([cancelled, timeout]);
    const filesMax = this.#config['catalog.plan_files_max'];
    const options = { manifestCache: this.#manifests.of(tenant), allowedRoots: roots, filesMax, signal };
    const predicate = predicateOf(scan, schema);
    await this.#enter();
    try {
      if (scan.kind === 'appends') return await planAppended(this.#io, metadata, ids, predicate, options);
      const [id] = ids;
      return id === undefined ? [] : await planEntries(this.#io, metadata, id, predicate, options);
    } catch (error) {
      if (cancelled.aborted) throw new SkeinError('PLAN_NOT_FOUND', 'The scan plan was cancelled', { cause: error });
      if (!timeout.aborted) throw error;
      throw new SkeinError('NOT_SUPPORTED', 'Planning the scan takes too long', { cause: error });
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.#running < this.#config['catalog.plans_at_once']) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** A place goes straight to the next in line. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }

  /** Drops what has expired, then the oldest until the files that are kept are within the limit. */
  #evict(): void {
    const nowMs = this.#clock.nowMs();
    let files = 0;
    for (const plan of this.#plans.values()) files += plan.files;
    for (const [planId, plan] of this.#plans) {
      const isOver = files > this.#config['catalog.plan_files_kept_max'] && plan.files > 0;
      if (!isOver && plan.expiresMs > nowMs) continue;
      files -= plan.files;
      this.#plans.delete(planId);
    }
  }
}
