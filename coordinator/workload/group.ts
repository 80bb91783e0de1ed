import { hash } from 'node:crypto';
import type { PathStep } from './route.ts';
import type { WorkClass } from './work-class.ts';
import { canGive, isTemplate, type GroupSpec, type SchedulingPolicy, type GroupLimits } from './workload.ts';
import type { MemoryHold } from './memory-ledger.ts';

/** A query in the tree, from its submission to its end. */
export type GroupQuery = {
  readonly id: string;
  readonly tenant: string;
  /** The groups that it was routed to, from the root on. */
  readonly path: readonly PathStep[];
  /** Order of arrival. */
  readonly sequence: number;
  workClass: WorkClass;
  priority: number;
  /** Most memory that the session allows it. */
  readonly memoryLimitBytes: number;
  /** Most memory that it may hold: that, or the limit of its class when that is less. */
  bytesMax: number;
  /** The group that it waits or runs in. */
  group: Group;
  /** Memory that it holds; null while it waits. */
  hold: MemoryHold | null;
};

/**
 * A group of the tree. Counts of running and waiting queries, memory and CPU time include those of the groups below. The group's own
 * queries take part in its turns like one more group below it.
 */
export class Group {
  readonly parent: Group | null;
  /** This group, its parent, and so on to the root. */
  readonly upward: readonly Group[];
  readonly step: PathStep;
  readonly spec: GroupSpec;
  /** By their names in a path, so that no two groups have the same path. */
  readonly #children = new Map<string, Group>();
  /** Own waiting queries, in lanes of equal class and priority, each in order of arrival. */
  readonly #lanes = new Map<string, Set<GroupQuery>>();
  running = 0;
  queued = 0;
  ownRunning = 0;
  ownQueued = 0;
  memoryBytes = 0;
  /** Cumulative CPU time, for display. */
  cpuTimeMs = 0;
  /** CPU time that counts against the limits: it falls again over the quota period. */
  cpuUsageMs = 0;
  /** The turn since which the group, or its own queue, waits to start a query; null = it does not. */
  since: number | null = null;
  ownSince: number | null = null;
  readonly eligible = new Set<Group>();
  /** Tenants of the queries that this group, made from a template, has had. */
  readonly tenants = new Set<string>();

  /** Dotted names from the root on. */
  readonly path: string;
  /** The same as the file spells it. */
  readonly specPath: string;
  /** Made from a template, or below such a group. */
  readonly isDynamic: boolean;
  /** The properties that the file gives it. */
  readonly limits: GroupLimits;

  constructor(parent: Group | null, step: PathStep, spec: GroupSpec) {
    const { name: _name, groups: _groups, ...limits } = spec;
    this.parent = parent;
    this.upward = [this, ...(parent?.upward ?? [])];
    this.step = step;
    this.spec = spec;
    this.limits = limits;
    this.path = parent === null ? step.name : `${parent.path}.${parent.#nameOf(step)}`;
    this.specPath = parent === null ? step.spec : `${parent.specPath}.${step.spec}`;
    this.isDynamic = isTemplate(step.spec) || (parent?.isDynamic ?? false);
  }

  get children(): Iterable<Group> {
    return this.#children.values();
  }

  /**
   * Finds the group of a step below this one, made on first use from its template; null when the file has none. A group that stands in the
   * file under the name that a template gives is that group: a path names one group.
   */
  child(given: PathStep): Group | null {
    const { groups } = this.spec;
    const named = groups.find(({ name }) => name === given.name && !isTemplate(name));
    const step = named === undefined ? given : { spec: named.name, name: named.name };
    const spec = named ?? groups.find(({ name }) => name === step.spec);
    if (spec === undefined) return null;
    const key = this.#nameOf(step);
    const known = this.#children.get(key);
    if (known !== undefined) return known;
    const made = new Group(this, step, spec);
    this.#children.set(key, made);
    return made;
  }

  /**
   * The name of a group below this one as it stands in a path. When several templates give the same name, their groups stay apart, so that
   * no source counts as a user: that of the second in the file ends in `:2`. No printed name has a colon otherwise, but a cut one.
   */
  #nameOf({ spec, name }: PathStep): string {
    const fitting = this.spec.groups.filter((one) => isTemplate(one.name) && canGive(one.name, name));
    const place = fitting.findIndex((one) => one.name === spec);
    return `${printName(name)}${place > 0 ? `:${place + 1}` : ''}`;
  }

  /** Removes a group that was made from a template. */
  forget(child: Group): void {
    this.#children.delete(this.#nameOf(child.step));
    this.eligible.delete(child);
  }

  get hasChildren(): boolean {
    return this.#children.size > 0;
  }

  /** Own waiting queries that come first in their lanes. */
  heads(): GroupQuery[] {
    return this.#lanes
      .values()
      .map((lane) => lane.values().next().value)
      .filter((query) => query !== undefined)
      .toArray();
  }

  /** Own waiting queries. */
  waiting(): Iterable<GroupQuery> {
    return this.#lanes.values().flatMap((lane) => lane.values());
  }

  enqueue(query: GroupQuery): void {
    const key = laneOf(query);
    const lane = this.#lanes.get(key) ?? new Set();
    this.#lanes.set(key, lane.add(query));
    this.ownQueued += 1;
    for (const group of this.upward) group.queued += 1;
  }

  dequeue(query: GroupQuery): void {
    const key = laneOf(query);
    const lane = this.#lanes.get(key);
    lane?.delete(query);
    if (lane?.size === 0) this.#lanes.delete(key);
    this.ownQueued -= 1;
    for (const group of this.upward) group.queued -= 1;
  }

  /** The policy that orders the group's queries: that of an ancestor by priority holds below it, too. */
  get policy(): SchedulingPolicy {
    return this.parent?.policy === 'query_priority' ? 'query_priority' : this.spec.schedulingPolicy;
  }

  /** Most queries that may run now: the hard limit, or less when the group has used much CPU time. */
  get effectiveConcurrency(): number {
    return effectiveConcurrency(this.spec, this.cpuUsageMs);
  }

  get hasMemory(): boolean {
    const limit = this.spec.softMemoryLimitBytes;
    return limit === null || this.memoryBytes <= limit;
  }

  get canRunMore(): boolean {
    return this.running < this.effectiveConcurrency && this.hasMemory;
  }
}

/**
 * Concurrency by CPU usage. Below the soft limit the hard concurrency holds. From it on, with S the lesser of soft and hard concurrency,
 *
 *     max(1, floor(S - (S - 1) x (cpu - soft) / (hard - soft)))
 *
 * so a group whose soft concurrency is below its hard one steps down at the soft limit. The hard limit is twice the soft one when unset;
 * a soft limit that is unset is the hard one.
 */
export function effectiveConcurrency(
  spec: Pick<GroupSpec, 'hardConcurrencyLimit' | 'softConcurrencyLimit' | 'softCpuLimitMs' | 'hardCpuLimitMs'>,
  cpuMs: number,
): number {
  const soft = spec.softCpuLimitMs ?? spec.hardCpuLimitMs;
  if (soft === null || cpuMs < soft) return spec.hardConcurrencyLimit;
  const hard = spec.hardCpuLimitMs ?? 2 * soft;
  if (cpuMs >= hard) return 1;
  const most = Math.min(spec.softConcurrencyLimit, spec.hardConcurrencyLimit);
  return Math.max(1, Math.floor(most - ((most - 1) * (cpuMs - soft)) / (hard - soft)));
}

const laneOf = ({ workClass, priority }: GroupQuery): string => `${workClass}/${priority}`;

/** Longest name of a group in a path: clients choose sources, and some users their names. */
const NAME_LENGTH_MAX = 100;

/** Digits of the hash of a whole name that end a cut one. */
const HASH_DIGITS = 16;

/** A name as it stands in a path: a user's name may have dots, which separate groups. A cut one ends in the hash of the whole. */
function printName(name: string): string {
  const printed = encodeURIComponent(name.toWellFormed()).replaceAll('.', '%2E');
  if (printed.length <= NAME_LENGTH_MAX) return printed;
  const digest = hash('sha256', printed, 'hex').slice(0, HASH_DIGITS);
  return `${printed.slice(0, NAME_LENGTH_MAX - HASH_DIGITS - 1)}:${digest}`;
}
