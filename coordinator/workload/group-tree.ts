// long file: one class, the pure state of the tree of groups
import { must } from '#shared/must.ts';
import { Group, type GroupQuery } from './group.ts';
import { snapshotOf, type GroupSnapshot, type WaitReason } from './group-snapshot.ts';
import { noQueries, type ClassCounts } from './work-class.ts';
import { groupAt, rootOf, stepsOf, walk } from './walk-groups.ts';
import { MemoryLedger, type MemoryOptions } from './memory-ledger.ts';
import { goesBefore, memberOrder, type Member } from './member-order.ts';
import type { PathStep } from './route.ts';
import type { WorkClass } from './work-class.ts';
import type { Workload } from './workload.ts';

/** A query as it is submitted. */
export type NewQuery = {
  readonly id: string;
  readonly tenant: string;
  readonly path: readonly PathStep[];
  readonly workClass: WorkClass;
  readonly priority: number;
  /** Most memory that the session allows it; the limit of its class holds beside it. */
  readonly memoryLimitBytes: number;
};

export type Submission =
  /** The query waits, unless it is one of those that start now. */
  | { readonly kind: 'accepted'; readonly started: readonly string[] }
  /** The queue of `group` is full; `path` is that of the query's own group. */
  | {
      readonly kind: 'refused';
      readonly path: string;
      readonly group: string;
      readonly queued: number;
      readonly queuedMax: number;
      readonly started: readonly string[];
    };

/** Groups made from templates that are kept only for their CPU counters; more, and those idle longest are forgotten. */
const IDLE_GROUPS_MAX = 10_000;

/**
 * The tree of resource groups: which queries wait, and which one starts next. It reads no clock and does no input or output: each method is
 * an event, and those that can free something return the ids of the queries that start now.
 *
 * A query starts when its group and every ancestor can run more. Among the members of a group (its own queue and the groups below it) that
 * have such a query, `fair` gives turns, `weighted` goes by the lowest running / weight, and `query_priority` takes the highest priority
 * and then the oldest. Members at or above their soft concurrency come last in the first two. When the workers' memory has no room for the
 * query in turn, the memory that all classes share is kept for it: only queries that can use the interactive share pass it.
 */
export class GroupTree {
  #workload: Workload;
  #root: Group;
  readonly #memory: MemoryLedger;
  readonly #queries = new Map<string, GroupQuery>();
  /** Dynamic groups without queries that have used CPU time, those idle longest first. */
  readonly #idle = new Set<Group>();
  #sequence = 0;
  #turn = 0;
  #nowMs = 0;
  /** Whether a query in turn waits for memory that all classes share. */
  #memoryClaimed = false;

  constructor(workload: Workload, memory: MemoryOptions) {
    this.#workload = workload;
    this.#root = rootOf(workload);
    this.#memory = new MemoryLedger(memory);
  }

  get running(): number {
    return this.#root.running;
  }

  get queued(): number {
    return this.#root.queued;
  }

  /** Submits a query: it runs if every group on its path can run more, else waits if every one can queue more. */
  submit(query: NewQuery): Submission {
    const group = this.#groupOf(query.path);
    const bytesMax = this.#bytesMax(query);
    const added: GroupQuery = { ...query, sequence: ++this.#sequence, bytesMax, group, hold: null };
    const full = group.upward.find((one) => one.queued >= one.spec.maxQueuedQueries);
    this.#queries.set(query.id, added);
    for (const one of group.upward) one.tenants.add(query.tenant);
    this.#enqueue(added);
    const started = this.#startAll();
    if (added.hold !== null || full === undefined) return { kind: 'accepted', started };
    const later = this.leave(query.id);
    const { queued, spec } = full;
    const refusal = { group: full.path, queued, queuedMax: spec.maxQueuedQueries };
    return { kind: 'refused', path: group.path, ...refusal, started: [...started, ...later] };
  }

  /** A query ended, or left the queue. */
  leave(id: string): readonly string[] {
    const query = this.#queries.get(id);
    if (query === undefined) return [];
    this.#queries.delete(id);
    const { group, hold } = query;
    if (hold === null) {
      group.dequeue(query);
    } else {
      this.#countMemory(group, -hold.bytes);
      this.#memory.giveBack(hold, hold.bytes);
      group.ownRunning -= 1;
      for (const one of group.upward) one.running -= 1;
    }
    this.#refresh(group);
    this.#forgetIdle(group);
    return this.#startAll();
  }

  /** Charges CPU time to a running query's groups. */
  charge(id: string, cpuMs: number): void {
    const query = this.#queries.get(id);
    if (query === undefined) return;
    for (const group of query.group.upward) {
      group.cpuTimeMs += cpuMs;
      group.cpuUsageMs += cpuMs;
    }
    this.#refresh(query.group);
  }

  /** Grows the memory of a running query towards `wantedBytes`, at most its limit; returns what it may use. */
  grow(id: string, wantedBytes: number): number {
    const query = this.#queries.get(id);
    if (query?.hold === undefined || query.hold === null) return 0;
    const before = query.hold.bytes;
    const most = Math.min(wantedBytes, query.bytesMax);
    const bytes = this.#memory.grow(query.hold, most, this.#memoryClaimed);
    this.#countMemory(query.group, query.hold.bytes - before);
    this.#refresh(query.group);
    return bytes;
  }

  /** Gives a running query another class, with the limit that the file now in force gives it; its group stays. */
  reclassify(id: string, to: Pick<NewQuery, 'workClass' | 'priority'>): readonly string[] {
    const query = this.#queries.get(id);
    if (query?.hold === undefined || query.hold === null) return [];
    const { bytes } = query.hold;
    this.#memory.giveBack(query.hold, bytes);
    query.hold = { workClass: to.workClass, bytes: 0, kept: 0 };
    this.#memory.take(query.hold, bytes);
    Object.assign(query, to);
    query.bytesMax = this.#bytesMax(query);
    return this.#startAll();
  }

  /** Sets the memory of all workers. */
  setMemory(totalBytes: number): readonly string[] {
    const hadWorkers = this.#memory.totalBytes > 0;
    this.#memory.resize(totalBytes);
    if (!hadWorkers) this.#reserveForRunning();
    return this.#startAll();
  }

  /** Queries that started while there was no worker have reserved nothing; what they grow by may be next to nothing, too. */
  #reserveForRunning(): void {
    for (const query of this.#queries.values()) {
      if (query.hold === null) continue;
      const missing = Math.max(0, this.#reservation(query) - query.hold.bytes);
      this.#memory.take(query.hold, missing);
      this.#countMemory(query.group, missing);
    }
  }

  /** Lets CPU counters fall by the time that went by. */
  tick(nowMs: number): readonly string[] {
    const elapsedMs = this.#nowMs === 0 ? 0 : nowMs - this.#nowMs;
    this.#nowMs = nowMs;
    const periodMs = this.#workload.cpuQuotaPeriodMs;
    if (periodMs > 0) {
      for (const group of walk(this.#root).toReversed()) {
        const hardMs = group.spec.hardCpuLimitMs ?? (group.spec.softCpuLimitMs ?? 0) * 2;
        if (hardMs > 0) group.cpuUsageMs = Math.max(0, group.cpuUsageMs - (hardMs * elapsedMs) / periodMs);
        this.#refreshOne(group);
        if (group.isDynamic) this.#forgetIdle(group);
      }
    }
    return this.#startAll();
  }

  /**
   * Puts another workload in force. Queries of a group that is gone move, in their order, to its nearest ancestor that is still there;
   * running ones count there. No query is refused, however many wait. Queries that wait get the limits of the new file's classes; those
   * that run keep theirs.
   */
  reconfigure(workload: Workload): readonly string[] {
    const counters = walk(this.#root);
    this.#workload = workload;
    this.#root = rootOf(workload);
    this.#idle.clear();
    for (const old of counters) {
      const group = this.#exactGroup(stepsOf(old));
      if (group === null) continue;
      group.cpuTimeMs = old.cpuTimeMs;
      group.cpuUsageMs = old.cpuUsageMs;
      for (const tenant of old.tenants) group.tenants.add(tenant);
    }
    for (const query of this.#queries.values()) {
      query.group = this.#groupOf(query.path);
      if (query.hold === null) {
        query.bytesMax = this.#bytesMax(query);
        this.#enqueue(query);
      } else this.#countRunning(query.group, query.hold.bytes);
    }
    for (const group of walk(this.#root).toReversed()) {
      this.#refreshOne(group);
      this.#forgetIdle(group);
    }
    return this.#startAll();
  }

  /** Queries that run and wait, by class. */
  countClasses(): ClassCounts {
    const counts = noQueries();
    for (const { workClass, hold } of this.#queries.values())
      counts[workClass][hold === null ? 'queued' : 'running'] += 1;
    return counts;
  }

  /** The workers' memory, and how much of it queries hold. */
  get memory(): { readonly heldBytes: number; readonly totalBytes: number } {
    const { heldBytes, totalBytes } = this.#memory;
    return { heldBytes, totalBytes };
  }

  /** Every group of the file, and those made from templates, each before the groups below it. */
  describe(): readonly GroupSnapshot[] {
    return walk(this.#root).map(snapshotOf);
  }

  /** Path of the group that a query waits or runs in. */
  groupPath(id: string): string {
    return must(this.#queries.get(id), 'the query is in the tree').group.path;
  }

  /** Path of the group that a query with these steps would have. A group that a template would make for it is not kept. */
  pathOf(steps: readonly PathStep[]): string {
    const group = groupAt(this.#root, steps);
    this.#forgetIdle(group);
    return group.path;
  }

  /** Place of a waiting query in its group's queue, from 1; null when it does not wait. */
  queuePosition(id: string): number | null {
    const query = this.#queries.get(id);
    if (query === undefined || query.hold !== null) return null;
    const byPriority = query.group.policy === 'query_priority';
    let ahead = 0;
    for (const other of query.group.waiting()) if (goesBefore(other, query, byPriority)) ahead += 1;
    return ahead + 1;
  }

  /** Why a query waits; null when it does not. */
  waitReason(id: string): WaitReason | null {
    const query = this.#queries.get(id);
    if (query === undefined || query.hold !== null) return null;
    for (const group of query.group.upward) {
      const { path, running, effectiveConcurrency, memoryBytes, spec } = group;
      if (running >= effectiveConcurrency) {
        const isReduced = effectiveConcurrency < spec.hardConcurrencyLimit;
        return { kind: 'concurrency', group: path, running, limit: effectiveConcurrency, isReduced };
      }
      if (!group.hasMemory)
        return { kind: 'groupMemory', group: path, memoryBytes, limitBytes: spec.softMemoryLimitBytes ?? 0 };
    }
    return { kind: 'memory', ...this.memory };
  }

  #groupOf(path: readonly PathStep[]): Group {
    const group = groupAt(this.#root, path);
    this.#idle.delete(group);
    return group;
  }

  /** The group at exactly this path; null when there is none. */
  #exactGroup(path: readonly PathStep[]): Group | null {
    return path.slice(1).reduce<Group | null>((group, step) => group?.child(step) ?? null, this.#root);
  }

  #enqueue(query: GroupQuery): void {
    query.group.enqueue(query);
    this.#refresh(query.group);
  }

  #countRunning(group: Group, bytes: number): void {
    group.ownRunning += 1;
    for (const one of group.upward) one.running += 1;
    this.#countMemory(group, bytes);
  }

  #countMemory(group: Group, bytes: number): void {
    for (const one of group.upward) one.memoryBytes += bytes;
  }

  /** Brings the turns of a group and its ancestors up to date after a change. */
  #refresh(group: Group): void {
    for (const one of group.upward) this.#refreshOne(one);
  }

  #refreshOne(group: Group): void {
    if (group.ownQueued === 0) group.ownSince = null;
    else group.ownSince ??= ++this.#turn;
    const isEligible = group.canRunMore && (group.ownQueued > 0 || group.eligible.size > 0);
    if (!isEligible) group.since = null;
    else group.since ??= ++this.#turn;
    if (isEligible) group.parent?.eligible.add(group);
    else group.parent?.eligible.delete(group);
  }

  #startAll(): readonly string[] {
    const started: string[] = [];
    for (let id = this.#startNext(); id !== null; id = this.#startNext()) started.push(id);
    return started;
  }

  /** Starts the query whose turn it is. */
  #startNext(): string | null {
    this.#memoryClaimed = false;
    const query = this.#pick(this.#root);
    if (query === null) return null;
    const { group } = query;
    group.dequeue(query);
    query.hold = { workClass: query.workClass, bytes: 0, kept: 0 };
    this.#memory.take(query.hold, this.#reservation(query));
    this.#countRunning(group, query.hold.bytes);
    group.ownSince = null;
    for (const one of group.upward) {
      one.since = null;
      this.#refreshOne(one);
    }
    return query.id;
  }

  /** The query of a group's subtree that goes next; null when none may start. */
  #pick(group: Group): GroupQuery | null {
    if (group.since === null) return null;
    const members: Member[] = [...group.eligible];
    if (group.ownQueued > 0) members.push({ own: group });
    if (group.policy === 'query_priority') {
      const best = members.map((member) => this.#pickFrom(member));
      return best.reduce((a, b) => (b === null || (a !== null && goesBefore(a, b, true)) ? a : b), null);
    }
    const isWeighted = group.policy === 'weighted';
    while (members.length > 0) {
      const first = members.reduce((a, b) => (memberOrder(a, b, isWeighted) <= 0 ? a : b));
      const query = this.#pickFrom(first);
      if (query !== null) return query;
      members.splice(members.indexOf(first), 1);
    }
    return null;
  }

  #pickFrom(member: Member): GroupQuery | null {
    if (!('own' in member)) return this.#pick(member);
    const byPriority = member.own.policy === 'query_priority';
    const heads = member.own.heads().toSorted((a, b) => (goesBefore(a, b, byPriority) ? -1 : 1));
    return heads.find((query) => this.#hasRoom(query)) ?? null;
  }

  /** Whether the workers' memory has room for a query; one in turn that has none claims the memory that becomes free. */
  #hasRoom(query: GroupQuery): boolean {
    if (this.#memory.freeFor(query.workClass, this.#memoryClaimed) >= this.#reservation(query)) return true;
    this.#memoryClaimed = true;
    return false;
  }

  #reservation({ workClass, bytesMax }: GroupQuery): number {
    return this.#memory.reservation(workClass, bytesMax);
  }

  #bytesMax({ workClass, memoryLimitBytes }: Pick<NewQuery, 'workClass' | 'memoryLimitBytes'>): number {
    return Math.min(memoryLimitBytes, this.#workload.classes[workClass].memoryBytes);
  }

  /** Forgets a group made from a template, and then its ancestors, once it has no query and no CPU time to remember. */
  #forgetIdle(group: Group): void {
    for (const one of group.upward) {
      if (!one.isDynamic || one.running > 0 || one.queued > 0 || one.hasChildren) return;
      const hasLimits = one.spec.softCpuLimitMs !== null || one.spec.hardCpuLimitMs !== null;
      if (hasLimits && one.cpuUsageMs > 0) {
        this.#idle.add(one);
        const [oldest] = this.#idle;
        if (this.#idle.size <= IDLE_GROUPS_MAX || oldest === undefined) return;
        this.#forget(oldest);
        return;
      }
      this.#forget(one);
    }
  }

  #forget(group: Group): void {
    this.#idle.delete(group);
    group.parent?.forget(group);
  }
}
