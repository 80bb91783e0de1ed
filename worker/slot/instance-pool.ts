import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { StatementContext } from '#proto/task.ts';
import { quoteLiteral } from '#shared/sql/quote.ts';
import { contextSetupSql, contextVariablesSql } from '#shared/sql/statement-context.ts';
import { PROFILE_OFF, PROFILE_ON } from '../duckdb/profile.ts';
import { Instance, type Connection } from '../duckdb/instance.ts';

/** What a task may use and what its statement means by "now" and "me". */
export type TaskLimits = {
  readonly memoryBytes: number;
  readonly spillBytes: number;
  readonly threads: number;
  readonly context: StatementContext;
  readonly profile: boolean;
};

/** What an instance holds at a moment. */
export type MemoryUse = { readonly memoryBytes: number; readonly spilledBytes: number };

/**
 * Options of every instance. Nothing is ever downloaded, and a spill folder is named before the first statement: the default is the
 * current directory.
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
 * Settings of every connection. Files of a table never change once written, so footers and pages stay cached. A paused wide task
 * (`threads` lowered while it runs) needs `scheduler_process_partial`.
 */
const SETTINGS = [
  'SET errors_as_json = true',
  'SET arrow_lossless_conversion = true',
  'SET enable_progress_bar = false',
  'SET scheduler_process_partial = true',
  'SET parquet_metadata_cache = true',
  "SET validate_external_file_cache = 'NO_VALIDATION'",
];

/** One DuckDB instance: it serves one task at a time, and tasks of one tenant and one set of roots only. */
export class TaskInstance implements Disposable {
  readonly connection: Connection;
  readonly #instance: Instance;
  readonly #spillDir: string;
  #control: Connection | undefined;
  #threads = 1;
  #applied: readonly string[] = [];

  constructor(spillDir: string) {
    mkdirSync(spillDir, { recursive: true, mode: 0o700 });
    this.#spillDir = spillDir;
    this.#instance = Instance.open({ ...OPTIONS, temp_directory: spillDir });
    this.connection = this.#instance.connect();
    this.connection.run([...SETTINGS, ...contextSetupSql].join(';'));
  }

  /** Shuts the instance in: it reads below these local folders and nowhere else, for good. */
  confine(folders: readonly string[]): void {
    this.connection.run(
      `SET allowed_directories = [${folders.map(quoteLiteral).join(', ')}]; SET enable_external_access = false`,
    );
  }

  /** Before each task. What is as the task before left it is not said again: a setting costs as much as a small query. */
  configure({ memoryBytes, spillBytes, threads, context, profile }: TaskLimits): void {
    const wanted = [
      `SET memory_limit = '${memoryBytes}B'`,
      `SET max_temp_directory_size = '${spillBytes}B'`,
      `SET threads = ${threads}`,
      profile ? PROFILE_ON : PROFILE_OFF,
      ...contextVariablesSql(context),
    ];
    const changed = wanted.filter((sql, i) => sql !== this.#applied[i]);
    if (changed.length > 0) this.connection.run(changed.join(';'));
    this.#applied = wanted;
    this.#threads = threads;
  }

  /** Changes the number of cores while a statement runs, from a second connection; takes effect within milliseconds. */
  useThreads(threads: number): void {
    if (threads === this.#threads) return;
    this.#second().run(`SET threads = ${threads}`);
    this.#threads = threads;
    this.#applied = [];
  }

  /** Asked from a second connection, while a statement runs or not. */
  memoryUse(): MemoryUse {
    const [memoryBytes = 0, spilledBytes = 0] = this.#second().readNumbers(
      'SELECT sum(memory_usage_bytes)::BIGINT, sum(temporary_storage_bytes)::BIGINT FROM duckdb_memory()',
    );
    return { memoryBytes, spilledBytes };
  }

  #second(): Connection {
    this.#control ??= this.#instance.connect();
    return this.#control;
  }

  [Symbol.dispose](): void {
    this.#control?.[Symbol.dispose]();
    this.connection[Symbol.dispose]();
    this.#instance[Symbol.dispose]();
    rmSync(this.#spillDir, { recursive: true, force: true });
  }
}

/**
 * Instances of one slot. To create one takes 20 to 40 ms, so a blank one is kept ready, and one that has served is kept for the next
 * task of the same tenant and roots; the one unused for longest goes when there are more than `idleMax`.
 */
export class InstancePool implements Disposable {
  readonly #spillDir: string;
  readonly #idleMax: number;
  readonly #idle = new Map<string, TaskInstance[]>();
  #blank: TaskInstance | undefined;
  #created = 0;

  constructor(spillDir: string, idleMax: number) {
    this.#spillDir = spillDir;
    this.#idleMax = idleMax;
  }

  acquire(tenant: string, folders: readonly string[]): { readonly key: string; readonly instance: TaskInstance } {
    const key = JSON.stringify([tenant, ...folders]);
    const waiting = this.#idle.get(key);
    const used = waiting?.pop();
    if (waiting?.length === 0) this.#idle.delete(key);
    if (used !== undefined) return { key, instance: used };
    const instance = this.#blank ?? this.#create();
    this.#blank = undefined;
    instance.confine(folders);
    return { key, instance };
  }

  /** Takes an instance back whose last task ended well; any other is to be disposed instead. */
  release(key: string, instance: TaskInstance): void {
    if (this.#idleMax === 0) {
      instance[Symbol.dispose]();
      return;
    }
    const sameKey = this.#idle.get(key) ?? [];
    // A key that is used again moves to the end: the first is the oldest.
    this.#idle.delete(key);
    this.#idle.set(key, [...sameKey, instance]);
    if (this.#idleCount() > this.#idleMax) this.#evictOldest();
  }

  /** Makes a blank instance ready, when the slot has nothing better to do. */
  prepareBlank(): void {
    this.#blank ??= this.#create();
  }

  #idleCount(): number {
    let count = 0;
    for (const instances of this.#idle.values()) count += instances.length;
    return count;
  }

  #evictOldest(): void {
    const [oldest] = this.#idle;
    if (oldest === undefined) return;
    const [key, [instance, ...rest]] = oldest;
    if (rest.length === 0) this.#idle.delete(key);
    else this.#idle.set(key, rest);
    instance?.[Symbol.dispose]();
  }

  #create(): TaskInstance {
    this.#created++;
    return new TaskInstance(join(this.#spillDir, `instance-${this.#created}`));
  }

  [Symbol.dispose](): void {
    this.#blank?.[Symbol.dispose]();
    this.#blank = undefined;
    for (const instances of this.#idle.values()) for (const instance of instances) instance[Symbol.dispose]();
    this.#idle.clear();
  }
}
