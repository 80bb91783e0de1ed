import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryUses } from '#shared/memory-uses.ts';
import { makeFoldersSync } from '#shared/storage/make-folders.ts';
import type { StatementContext } from '#shared/sql/statement-context.ts';
import { quoteLiteral } from '#shared/sql/quote.ts';
import { boundSql, unboundSql, type BoundedFamily } from '#shared/sql/bounded-functions.ts';
import { windowMode } from '#shared/sql/unsound-optimizers.ts';
import { contextSetupSql, contextVariablesSql } from '#shared/sql/statement-context.ts';
import { PROFILING, type Profiling } from './profile.ts';
import { InputCallbacks, InputFunctions } from './input-functions.ts';
import { Instance, type Connection } from './instance.ts';
import { PreparedStatement } from './statement.ts';

/** A task's resource limits and session context (the values of "now" and "current user" in its statement). */
export type TaskLimits = {
  readonly memoryBytes: number;
  readonly spillBytes: number;
  readonly threads: number;
  readonly context: StatementContext;
  readonly profile: Profiling;
  /** Runs joins in the order of the text. */
  readonly keepJoinOrder: boolean;
  /** Optimizers, and ways of aggregates over windows, that make wrong answers of the task's SQL (`shared/sql/unsound-optimizers.ts`). */
  readonly unsound: { readonly optimizers: readonly string[]; readonly windows: boolean };
  /** Function families that are replaced with bounded versions. */
  readonly bounds: readonly BoundedFamily[];
};

/** Bytes that an instance holds at the time of asking. */
export type MemoryUse = { readonly memoryBytes: number; readonly spilledBytes: number };

/**
 * Options of every instance. They forbid downloads of extensions, and a spill folder is set before the first statement, because the
 * default is the current directory.
 */
const OPTIONS = {
  threads: '1',
  memory_limit: '64MB',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_community_extensions: 'false',
  allow_persistent_secrets: 'false',
} as const;

/**
 * Settings of every connection. Version 1.5 of the Arrow format has decimals of 32 and 64 bits: half the bytes of an amount. Files of a
 * table never change once written, so footers stay cached; pages are in the system's cache, and copies of them in each instance would save one
 * per cent of a query's time. A paused wide task (`threads` lowered while it runs) needs
 * `scheduler_process_partial`.
 */
const SETTINGS = [
  'SET errors_as_json = true',
  'SET arrow_lossless_conversion = true',
  "SET arrow_output_version = '1.5'",
  'SET enable_progress_bar = false',
  'SET scheduler_process_partial = true',
  'SET parquet_metadata_cache = true',
  'SET enable_external_file_cache = false',
];

/** Statements that an instance keeps, and the longest text of one, in characters. */
const KEPT_MAX = 4;
const KEPT_LENGTH_MAX = 64 * 1024;
/** A statement that took more CPU time to prepare is not kept: its plan may hold a constant of many megabytes, which no memory limit counts. */
const KEPT_PREPARED_MS_MAX = 10;

/** One DuckDB instance: it serves one task at a time, and tasks of one tenant and one set of roots only. */
export class TaskInstance implements Disposable {
  readonly connection: Connection;
  /** Table functions that read the outputs of other tasks. */
  readonly inputs: InputFunctions;
  readonly instance: Instance;
  readonly #spillDir: string;
  #control: Connection | undefined;
  #threads = 1;
  #memoryBytes: number | undefined;
  #applied: readonly string[] = [];
  #bounds: readonly BoundedFamily[] = [];
  /** Statements of earlier tasks by their texts, the one used last at the end: a text that comes again is not bound and planned again. */
  readonly #kept = new Map<string, PreparedStatement>();
  readonly #uses: MemoryUses;

  constructor(spillDir: string, callbacks: InputCallbacks, uses: MemoryUses = new MemoryUses()) {
    this.#uses = uses;
    makeFoldersSync(spillDir, { mode: 0o700 });
    this.#spillDir = spillDir;
    this.instance = Instance.open({ ...OPTIONS, temp_directory: spillDir });
    this.connection = this.instance.connect();
    this.connection.run([...SETTINGS, ...contextSetupSql].join(';'));
    this.inputs = new InputFunctions(this.connection, callbacks);
  }

  /** Its limit since the last task; undefined before the first. */
  get memoryBytes(): number | undefined {
    return this.#memoryBytes;
  }

  /** Restricts the instance to reading below these local folders. It cannot be undone. */
  confine(folders: readonly string[]): void {
    this.connection.run(
      `SET allowed_directories = [${folders.map(quoteLiteral).join(', ')}]; SET enable_external_access = false`,
    );
  }

  /** Applies a task's limits before it runs. Unchanged settings are skipped, because each costs as much as a small query. */
  configure({ memoryBytes, spillBytes, threads, context, profile, keepJoinOrder, unsound, bounds }: TaskLimits): void {
    const disabled = [...(keepJoinOrder ? ['join_order'] : []), ...unsound.optimizers];
    const wanted = [
      `SET memory_limit = '${memoryBytes}B'`,
      `SET max_temp_directory_size = '${spillBytes}B'`,
      `SET threads = ${threads}`,
      PROFILING[profile],
      `SET disabled_optimizers = '${disabled.join(',')}'`,
      `SET debug_window_mode = '${windowMode(unsound.windows)}'`,
      ...contextVariablesSql(context),
    ];
    const changed = [...this.#changeBounds(bounds), ...wanted.filter((sql, i) => sql !== this.#applied[i])];
    if (changed.length > 0) {
      // Settings and the context are bound into statements.
      this.#forget(0);
      this.connection.run(changed.join(';'));
    }
    this.#applied = wanted;
    this.#bounds = bounds;
    this.#threads = threads;
    this.#memoryBytes = memoryBytes;
  }

  /**
   * Binds and plans a query, or takes the statement that was kept. The caller gives it back with `keep`, or disposes of it.
   * @throws as `PreparedStatement`
   */
  prepare(sql: string): PreparedStatement {
    const kept = this.#uses.of(this.#kept.get(sql));
    this.#kept.delete(sql);
    return kept ?? new PreparedStatement(this.connection, sql);
  }

  /** Takes back a statement whose run has ended well. */
  keep(sql: string, prepared: PreparedStatement): void {
    if (sql.length > KEPT_LENGTH_MAX || prepared.preparedMs > KEPT_PREPARED_MS_MAX) {
      prepared[Symbol.dispose]();
      return;
    }
    this.#kept.set(sql, prepared);
    this.#forget(KEPT_MAX);
  }

  /** Disposes of kept statements, those used longest ago first, until `count` are left. */
  #forget(count: number): void {
    for (const [sql, prepared] of this.#kept) {
      if (this.#kept.size <= count) return;
      this.#kept.delete(sql);
      prepared[Symbol.dispose]();
    }
  }

  #changeBounds(wanted: readonly BoundedFamily[]): readonly string[] {
    const before = this.#bounds;
    if (before.length === 0 && wanted.length === 0) return [];
    // Drops come first, because the macros of other families call functions that may be dropped.
    return [
      ...before.filter((family) => !wanted.includes(family)).flatMap(unboundSql),
      ...wanted.filter((family) => !before.includes(family)).flatMap(boundSql),
    ];
  }

  /** Changes the number of cores while a statement runs, from a second connection; takes effect within milliseconds. */
  useThreads(threads: number): void {
    if (threads === this.#threads) return;
    this.#second().run(`SET threads = ${threads}`);
    this.#threads = threads;
    this.#applied = [];
  }

  /** Reads the memory use over a second connection, so it works while a statement runs. */
  memoryUse(): MemoryUse {
    const [memoryBytes = 0, spilledBytes = 0] = this.#second().readNumbers(
      'SELECT sum(memory_usage_bytes)::BIGINT, sum(temporary_storage_bytes)::BIGINT FROM duckdb_memory()',
    );
    return { memoryBytes, spilledBytes };
  }

  /**
   * Disposes of kept statements and returns freed pages to the system: DuckDB does so whenever its limit is set, even to the same value.
   */
  giveBack(): void {
    this.#forget(0);
    if (this.#memoryBytes === undefined) return;
    this.connection.run(`SET memory_limit = '${this.#memoryBytes}B'`);
  }

  #second(): Connection {
    this.#control ??= this.instance.connect();
    return this.#control;
  }

  [Symbol.dispose](): void {
    this.#forget(0);
    this.#control?.[Symbol.dispose]();
    this.inputs[Symbol.dispose]();
    this.connection[Symbol.dispose]();
    this.instance[Symbol.dispose]();
    rmSync(this.#spillDir, { recursive: true, force: true });
  }
}

/** Bytes that an instance holds after giving back its freed pages; infinite when it cannot be asked, so that it is closed. */
function heldBytes(instance: TaskInstance): number {
  try {
    instance.giveBack();
    return OWN_BYTES + instance.memoryUse().memoryBytes;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Tenants whose folders a slot remembers. */
const TENANTS_MAX = 1_000;
/** Folders of one tenant that a slot remembers: those used longest ago are forgotten first. */
const FOLDERS_MAX = 256;

/**
 * The tasks that an instance may serve: those of one tenant, and either those that write files or those that do not. DuckDB does not tell
 * reading from writing in `allowed_directories`.
 */
export type Serves = { readonly tenant: string; readonly writes: boolean };

/** An instance with the tasks and the folders that it may serve. */
export type Confined = Serves & {
  readonly folders: ReadonlySet<string>;
  readonly instance: TaskInstance;
};

type Idle = Confined & {
  readonly sinceMs: number;
  /** Bytes that the instance holds; undefined until measured. */
  heldBytes: number | undefined;
};

/** Instances of a slot that nobody has used for a while. */
const UNUSED_MAX = 4;
/** Memory of an instance that its limit does not count: functions and settings. A blank instance holds 2.6 MB. */
const OWN_BYTES = 4 * 2 ** 20;

/** Limits of idle instances: how many are kept, and the bytes kept by those unused for `afterMs`. */
export type IdleLimits = { readonly countMax: number; readonly bytesMax: number; readonly afterMs: number };

/**
 * Instances of one slot. Creating one takes 20 to 40 ms, so a blank one is kept ready, and a used one is kept for the next task of the same
 * tenant; with more than `countMax`, the one unused for longest is closed. Their memory is mainly cached footers, which make the next
 * query faster: of the instances unused for `afterMs`, at most `UNUSED_MAX` are kept, with `bytesMax` in all.
 *
 * A new instance may read the folders of its first task and those that earlier tasks of the tenant had tickets for: otherwise every new
 * combination of tables would need an instance of its own, with cold caches. The primary access check is made per file when the scans
 * are printed; this restriction is the second barrier, between tenants.
 */
export class InstancePool implements Disposable {
  readonly #spillDir: string;
  readonly #limits: IdleLimits;
  /** In order of use, most recently used last. */
  readonly #idle: Idle[] = [];
  readonly #folders = new Map<string, Set<string>>();
  readonly #callbacks = new InputCallbacks();
  readonly #uses: MemoryUses | undefined;
  #blank: TaskInstance | undefined;
  #created = 0;
  #isDisposed = false;

  /** @param uses counts the statements that instances still have prepared */
  constructor(spillDir: string, limits: IdleLimits, uses?: MemoryUses) {
    this.#spillDir = spillDir;
    this.#limits = limits;
    this.#uses = uses;
  }

  /**
   * Takes an instance for these tasks that may read, or for tasks that write also write, these local folders, preferably one with the same memory limit: under a new limit DuckDB
   * returns its freed pages to the system, which costs a third of the time of a scan.
   */
  acquire({ tenant, writes }: Serves, folders: readonly string[], memoryBytes: number): Confined {
    const mayServe = (one: Confined): boolean =>
      one.tenant === tenant && one.writes === writes && folders.every((f) => one.folders.has(f));
    const same = this.#idle.findLastIndex((one) => one.instance.memoryBytes === memoryBytes && mayServe(one));
    const hasRoom = this.#idle.length < this.#limits.countMax;
    const index = same === -1 && !hasRoom ? this.#idle.findLastIndex(mayServe) : same;
    const [found] = index === -1 ? [] : this.#idle.splice(index, 1);
    if (found !== undefined) return found;
    const known = this.#remember(writes ? `${tenant} writes` : tenant, folders);
    const instance = this.#blank ?? this.#create();
    this.#blank = undefined;
    instance.confine([...known]);
    return { tenant, writes, folders: new Set(known), instance };
  }

  /** Takes back an instance whose last task succeeded; the caller disposes of any other. */
  release({ tenant, writes, folders, instance }: Confined, nowMs: number): void {
    this.#idle.push({ tenant, writes, folders, instance, sinceMs: nowMs, heldBytes: undefined });
    if (this.#idle.length > this.#limits.countMax) this.#idle.shift()?.instance[Symbol.dispose]();
  }

  /** Closes instances idle for `afterMs` that exceed the limits, longest unused first. Returns whether it closed any. */
  trim(nowMs: number): boolean {
    let kept = 0;
    let keptBytes = 0;
    let hasClosed = false;
    for (const one of this.#idle.toReversed()) {
      if (nowMs - one.sinceMs < this.#limits.afterMs) continue;
      one.heldBytes ??= heldBytes(one.instance);
      if (kept < UNUSED_MAX && keptBytes + one.heldBytes <= this.#limits.bytesMax) {
        kept += 1;
        keptBytes += one.heldBytes;
        continue;
      }
      this.#close(one);
      hasClosed = true;
    }
    return hasClosed;
  }

  /** Closes all idle instances when the process is short of memory. Returns whether it closed any. */
  closeIdle(): boolean {
    const closed = this.#idle.splice(0);
    for (const { instance } of closed) instance[Symbol.dispose]();
    return closed.length > 0;
  }

  #close(one: Idle): void {
    this.#idle.splice(this.#idle.indexOf(one), 1);
    one.instance[Symbol.dispose]();
  }

  /** Creates the blank spare instance, when the slot is otherwise idle. */
  prepareBlank(): void {
    if (!this.#isDisposed) this.#blank ??= this.#create();
  }

  #remember(tenant: string, folders: readonly string[]): ReadonlySet<string> {
    const known = this.#folders.get(tenant) ?? new Set();
    for (const folder of folders) {
      known.delete(folder);
      known.add(folder);
    }
    for (const folder of known) {
      if (known.size <= Math.max(FOLDERS_MAX, folders.length)) break;
      known.delete(folder);
    }
    this.#folders.delete(tenant);
    this.#folders.set(tenant, known);
    const [oldest] = this.#folders.keys();
    if (this.#folders.size > TENANTS_MAX && oldest !== undefined) this.#folders.delete(oldest);
    return known;
  }

  #create(): TaskInstance {
    this.#created++;
    return new TaskInstance(join(this.#spillDir, `instance-${this.#created}`), this.#callbacks, this.#uses);
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#blank?.[Symbol.dispose]();
    this.#blank = undefined;
    for (const { instance } of this.#idle.splice(0)) instance[Symbol.dispose]();
    rmSync(this.#spillDir, { recursive: true, force: true });
  }
}
