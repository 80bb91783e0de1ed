import { LRUCache } from 'lru-cache';
import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';

/** A commit to one table that waits for its turn there. */
export interface QueuedCommit<Self> {
  /** Commits that wait together and have the same key become one; null = this one stays alone. */
  readonly shareKey: string | null;
  /** Data files that it adds. */
  readonly files: number;
  /** The table's last sequence number when the statement loaded it. */
  readonly sequenceNumber: bigint;
  /** Ends the wait; not the commit. */
  readonly signal: AbortSignal;
  /** From now on the statement cannot be stopped. @throws the reason of a stop that came before */
  begin(): void;
  /**
   * Commits a group whose first member this is.
   * @param isStale another commit came after the table was loaded
   * @returns the sequence number of the new snapshot
   */
  commit(group: readonly Self[], isStale: boolean): Promise<bigint>;
}

type Waiting<C> = {
  readonly commit: C;
  readonly settle: { readonly resolve: () => void; readonly reject: (reason: unknown) => void };
  readonly unlisten: () => void;
};

/** Files that the members of a group add together. */
const GROUP_FILES_MAX = 1_000;
/** Tables whose last commit is remembered. */
const TABLES_MAX = 10_000;

/**
 * The commits of this coordinator to each table, one at a time, so that they do not lose the catalog's compare-and-swap against each other.
 * Small INSERTs that arrive while a commit runs become one commit after it (group commit):
 * ```
 *   a ─▶ commit(a) ──────────▶ commit(b, c, d) ─▶ ...
 *          b, c, d wait ──────┘
 * ```
 * A group has one snapshot, which appends the files of all its members: the table is as after one INSERT after the other, and its metadata,
 * which every commit writes anew, grows by one snapshot and not by as many as there are statements. Its members have the same outcome,
 * also an unknown one. Only what may be the fault of one member, such as a change that the catalog refuses, is tried again with each alone.
 */
export class CommitQueue<C extends QueuedCommit<C>> {
  /** The waiting commits of each table of which one runs, in the order of their arrival. */
  readonly #lines = new Map<string, Waiting<C>[]>();
  /** The last sequence number that a commit of this queue gave to a table. */
  readonly #last = new LRUCache<string, bigint>({ max: TABLES_MAX });

  /** Commits when it is its turn. @param table its UUID @throws what the commit throws, or the reason of a stop before its turn */
  run(table: string, commit: C): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const running = this.#lines.get(table);
    const line = running ?? [];
    const { signal } = commit;
    const leave = (): void => {
      const at = line.indexOf(waiting);
      if (at !== -1) line.splice(at, 1);
      reject(signal.reason);
    };
    const unlisten = (): void => signal.removeEventListener('abort', leave);
    const waiting = { commit, settle: { resolve, reject }, unlisten };
    line.push(waiting);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    if (running === undefined) {
      this.#lines.set(table, line);
      void this.#work(table, line);
    }
    return promise;
  }

  async #work(table: string, line: Waiting<C>[]): Promise<void> {
    while (line.length > 0) await this.#commit(table, takeGroup(line).filter(hasBegun));
    this.#lines.delete(table);
  }

  async #commit(table: string, group: readonly Waiting<C>[]): Promise<void> {
    if (group.length === 0) return;
    const commits = group.map(({ commit }) => commit);
    const last = this.#last.get(table) ?? 0n;
    try {
      const isStale = commits.every(({ sequenceNumber }) => sequenceNumber < last);
      this.#last.set(table, await must(commits[0], 'a group has a member').commit(commits, isStale));
      for (const { settle } of group) settle.resolve();
    } catch (error) {
      if (group.length > 1 && isOfOne(error)) for (const one of group) await this.#commit(table, [one]);
      else for (const { settle } of group) settle.reject(error);
    }
  }
}

/** Takes the first of a line, and those behind it that share its commit. */
function takeGroup<C extends QueuedCommit<C>>(line: Waiting<C>[]): readonly Waiting<C>[] {
  const first = must(line.shift(), 'somebody waits');
  const { shareKey } = first.commit;
  if (shareKey === null) return [first];
  const group = [first];
  const others: Waiting<C>[] = [];
  let files = first.commit.files;
  for (const one of line) {
    const joins = one.commit.shareKey === shareKey && files + one.commit.files <= GROUP_FILES_MAX;
    if (joins) files += one.commit.files;
    (joins ? group : others).push(one);
  }
  line.splice(0, line.length, ...others);
  return group;
}

function hasBegun<C extends QueuedCommit<C>>({ commit, settle, unlisten }: Waiting<C>): boolean {
  unlisten();
  try {
    commit.begin();
    return true;
  } catch (error) {
    settle.reject(error);
    return false;
  }
}

/** Whether an error may concern one member of a group only, and nothing was sent that may still happen. */
function isOfOne(error: unknown): boolean {
  if (!(error instanceof SkeinError)) return true;
  return error.entry.kind === 'user' && error.code !== 'COMMIT_CONFLICT' && error.code !== 'COMMIT_STATE_UNKNOWN';
}
