import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#shared/clock.ts';
import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import type { TenantId } from '#shared/id.ts';
import { limitsHere } from '#shared/iceberg/decode-limits.ts';
import { LruManifestCache } from '#shared/iceberg/manifest-cache.ts';
import type { Json } from '#shared/json.ts';
import type { StorageCredential } from '#shared/storage/credential.ts';
import type { FileReader } from '#shared/storage/storage.ts';
import { SmallFirst } from '#shared/thread/small-first.ts';
import type { WorkCall, WorkPool } from '#shared/thread/work-pool.ts';
import { work } from '#shared/thread/work.ts';
import { DOCUMENT_BYTES_HERE } from '../metadata/document-task.ts';
import { planPortions, resolveText, type Portions, type PortionsInput, type ResolveInput } from './plan-portions.ts';
import type { PlannedScan } from '../metadata/plan-request.ts';

/** The table that is scanned. */
export type ScannedTable = {
  readonly tenant: TenantId;
  /** JSON text of its metadata. */
  readonly metadata: string;
  readonly metadataLocation: string;
  readonly roots: readonly string[];
};

type Plan = {
  /** Those of the caller for whom it was made. */
  readonly roots: readonly string[];
  readonly portions: Promise<Portions>;
  readonly abort: AbortController;
  readonly expiresMs: number;
  files: number;
  bytes: number;
};

/** Maximum number of plans that wait for one of the `catalog.plans_at_once` slots. */
const WAITING_MAX = 1_000;
/** Maximum printed size of a plan that the main thread makes. */
const BYTES_HERE_MAX = 4 * 2 ** 20;

const MODULE = new URL('./plan-in-thread.ts', import.meta.url);
const PORTIONS = work<PortionsInput & { readonly credential: StorageCredential }, Portions>(MODULE, 'portionsInThread');
const RESOLVE = work<ResolveInput, PlannedScan>(MODULE, 'resolveInThread');

/** The catalog's own way to the files of tables. */
type PlannerStorages = {
  credential(location: string): Promise<StorageCredential>;
  open(location: string): Promise<FileReader>;
};

/**
 * Plans scans and caches their results; worker threads plan scans of large tables. A plan whose request is known can be made again, here or
 * in another process, with the same result, because a snapshot never changes.
 */
export class ScanPlanner {
  readonly #config: Config;
  readonly #clock: Clock;
  readonly #storages: PlannerStorages;
  readonly #readers: WorkPool;
  readonly #manifests: LruManifestCache;
  /** Plans small scans on the main thread; keyed by the tenant, the table's document and the snapshots that are read. */
  readonly #smallFirst = new SmallFirst();
  readonly #plans = new Map<string, Plan>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(parts: {
    readonly config: Config;
    readonly clock: Clock;
    readonly storages: PlannerStorages;
    readonly readers: WorkPool;
  }) {
    this.#config = parts.config;
    this.#clock = parts.clock;
    this.#storages = parts.storages;
    this.#readers = parts.readers;
    this.#manifests = new LruManifestCache(Math.floor(parts.config['catalog.manifest_cache_bytes'] / 2));
  }

  /** Resolves a request to a scan; see `resolveScan`. @throws INVALID_REQUEST, QUEUE_FULL, TABLE_DATA_TOO_COMPLEX */
  async resolve(table: ScannedTable, body: Json | undefined): Promise<PlannedScan> {
    const input = { metadata: table.metadata, body };
    return isLarge(table) ? this.#readers.run(RESOLVE, input, callOf(table)) : resolveText(input);
  }

  /**
   * Returns the files of a plan, planning it unless it is cached. Returns undefined when that takes longer than `waitMs`: planning goes on,
   * and a later call finds the result.
   * @throws QUEUE_FULL, NOT_SUPPORTED, INVALID_TABLE_DATA, TABLE_DATA_TOO_COMPLEX, STORAGE_ERROR
   */
  async portions(
    planId: string,
    table: ScannedTable,
    scan: PlannedScan,
    waitMs: number,
  ): Promise<Portions | undefined> {
    this.#evict();
    const known = this.#plans.get(planId);
    // Policies that were bound since, or concern another caller, close folders.
    const isSame = known !== undefined && JSON.stringify(known.roots) === JSON.stringify(table.roots);
    const plan = isSame ? known : this.#start(planId, table, scan);
    const patience = new AbortController();
    try {
      const late = sleep(waitMs, undefined, { signal: patience.signal, ref: false }).catch(() => undefined);
      return await Promise.race([plan.portions, late]);
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
      roots: table.roots,
      expiresMs: this.#clock.nowMs() + this.#config['catalog.plan_ttl'],
      files: 0,
      bytes: 0,
      portions: this.#run(table, scan, abort.signal),
    };
    this.#plans.set(planId, plan);
    void this.#account(planId, plan);
    return plan;
  }

  async #account(planId: string, plan: Plan): Promise<void> {
    try {
      const { files, texts } = await plan.portions;
      plan.files = files;
      plan.bytes = texts.reduce((sum, text) => sum + text.length, 0);
      this.#evict();
    } catch {
      // Callers that wait for the plan get the error; the next request plans it again.
      if (this.#plans.get(planId) === plan) this.#plans.delete(planId);
    }
  }

  async #run(table: ScannedTable, scan: PlannedScan, cancelled: AbortSignal): Promise<Portions> {
    const timeout = AbortSignal.timeout(this.#config['catalog.plan_timeout']);
    const signal = AbortSignal.any([cancelled, timeout]);
    await this.#enter();
    try {
      return await this.#plan(table, scan, signal);
    } catch (error) {
      if (cancelled.aborted) throw new SkeinError('PLAN_NOT_FOUND', 'The scan plan was cancelled', { cause: error });
      if (!timeout.aborted) throw error;
      throw new SkeinError('NOT_SUPPORTED', 'Planning the scan takes too long', { cause: error });
    } finally {
      this.#leave();
    }
  }

  async #plan(table: ScannedTable, scan: PlannedScan, signal: AbortSignal): Promise<Portions> {
    const input = {
      location: table.metadataLocation,
      tenant: table.tenant,
      metadata: table.metadata,
      scan,
      roots: table.roots,
      filesMax: this.#config['catalog.plan_files_max'],
      filesPerPortion: this.#config['catalog.plan_files_per_task'],
      bytesMax: this.#config['catalog.plan_bytes_max'],
    };
    const apart = async (): Promise<Portions> => {
      const credential = await this.#storages.credential(table.metadataLocation);
      return this.#readers.run(PORTIONS, { ...input, credential }, { ...callOf(table), signal });
    };
    if (isLarge(table)) return apart();
    const place = {
      io: await this.#storages.open(table.metadataLocation),
      manifestCaches: this.#manifests,
      limits: limitsHere(),
      largeManifests: 'refuse',
      signal,
    } as const;
    const key = `${table.tenant} ${table.metadataLocation} ${scan.snapshotIds.join(' ')}`;
    return this.#smallFirst.run(key, () => planPortions(place, { ...input, bytesMax: BYTES_HERE_MAX }), apart);
  }

  async #enter(): Promise<void> {
    if (this.#running < this.#config['catalog.plans_at_once']) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Frees a slot, which passes directly to the next in line. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }

  /** Drops expired plans, then the oldest ones until the rest is within the limits. */
  #evict(): void {
    const nowMs = this.#clock.nowMs();
    let [files, bytes] = [0, 0];
    for (const plan of this.#plans.values()) {
      files += plan.files;
      bytes += plan.bytes;
    }
    for (const [planId, plan] of this.#plans) {
      const isOver =
        files > this.#config['catalog.plan_files_kept_max'] || bytes > this.#config['catalog.plan_bytes_kept_max'];
      if ((!isOver || plan.bytes === 0) && plan.expiresMs > nowMs) continue;
      files -= plan.files;
      bytes -= plan.bytes;
      this.#plans.delete(planId);
    }
  }
}

const isLarge = ({ metadata }: ScannedTable): boolean => metadata.length > DOCUMENT_BYTES_HERE;

const callOf = ({ tenant, metadataLocation }: ScannedTable): WorkCall => ({ owner: tenant, what: metadataLocation });
