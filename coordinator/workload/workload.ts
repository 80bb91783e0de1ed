import { DEFAULT_MLFQ, type MlfqSpec } from '#shared/mlfq-spec.ts';
import type { WorkClass } from './work-class.ts';

/** The operator's resource groups, routing, classes and levels: the file `coordinator.workload_file`, read and checked. */
export type Workload = {
  readonly root: GroupSpec;
  readonly rules: readonly RoutingRule[];
  readonly classes: Readonly<Record<WorkClass, ClassLimits>>;
  readonly mlfq: MlfqSpec;
  /** Time in which a group's CPU counter falls by its hard CPU limit; 0 = it never falls. */
  readonly cpuQuotaPeriodMs: number;
};

export const SCHEDULING_POLICIES = ['fair', 'weighted', 'query_priority'] as const;
export type SchedulingPolicy = (typeof SCHEDULING_POLICIES)[number];

/** A resource group (service specification, Resource group). A name with `${USER}` and the like stands for a group per value. */
export type GroupSpec = {
  readonly name: string;
  readonly hardConcurrencyLimit: number;
  readonly softConcurrencyLimit: number;
  readonly maxQueuedQueries: number;
  readonly softMemoryLimitBytes: number | null;
  readonly softCpuLimitMs: number | null;
  readonly hardCpuLimitMs: number | null;
  readonly schedulingPolicy: SchedulingPolicy;
  readonly schedulingWeight: number;
  readonly groups: readonly GroupSpec[];
};

/** The properties of a group, without its place in the tree. */
export type GroupLimits = Omit<GroupSpec, 'name' | 'groups'>;

/** A routing rule; null matches anything. */
export type RoutingRule = {
  readonly tenant: string | null;
  readonly user: string | null;
  readonly source: string | null;
  readonly resourcePool: string | null;
  readonly queryType: string | null;
  /** Names of the groups from the root on, as the file spells them. */
  readonly target: readonly string[];
  /** Priority of the queries, whatever their class; null = the class's. */
  readonly priority: number | null;
};

export type ClassLimits = { readonly timeoutMs: number; readonly memoryBytes: number };

const GB = 1e9;

/** A longer duration overflows the timers. */
export const DURATION_MAX_MS = 2 ** 31 - 1;

export const GROUP_DEFAULTS: Omit<GroupSpec, 'name'> = {
  hardConcurrencyLimit: 100,
  softConcurrencyLimit: 100,
  maxQueuedQueries: 1_000,
  softMemoryLimitBytes: null,
  softCpuLimitMs: null,
  hardCpuLimitMs: null,
  schedulingPolicy: 'fair',
  schedulingWeight: 1,
  groups: [],
};

/** The workload without a file: the group `root` alone, with the specification's defaults. */
export const DEFAULT_WORKLOAD: Workload = {
  root: { name: 'root', ...GROUP_DEFAULTS },
  rules: [],
  classes: {
    interactive: { timeoutMs: 30_000, memoryBytes: GB },
    medium: { timeoutMs: 180_000, memoryBytes: 4 * GB },
    batch: { timeoutMs: 600_000, memoryBytes: 8 * GB },
  },
  mlfq: DEFAULT_MLFQ,
  cpuQuotaPeriodMs: 0,
};

const LIMIT_NONE = 1e9;

/** The workload of `coordinator.workload: off`: everything runs at once, at one level. */
export const NO_WORKLOAD: Workload = {
  ...DEFAULT_WORKLOAD,
  root: { name: 'root', ...GROUP_DEFAULTS, hardConcurrencyLimit: LIMIT_NONE },
  classes: {
    interactive: { timeoutMs: DURATION_MAX_MS, memoryBytes: Number.MAX_SAFE_INTEGER },
    medium: { timeoutMs: DURATION_MAX_MS, memoryBytes: Number.MAX_SAFE_INTEGER },
    batch: { timeoutMs: DURATION_MAX_MS, memoryBytes: Number.MAX_SAFE_INTEGER },
  },
  mlfq: { ...DEFAULT_MLFQ, levelWeightRatio: 1 },
};

/** The variables that a group's name may hold. */
type NameVariable = 'TENANT' | 'USER' | 'SOURCE';

const VARIABLE = /\$\{(TENANT|USER|SOURCE)\}/g;

export const isTemplate = (name: string): boolean => name.search(VARIABLE) >= 0;

/** Whether a template can give this name, with some values in the place of its variables. */
export function canGive(template: string, name: string): boolean {
  // The names of the variables stand between the texts.
  const [first = '', ...rest] = template.split(VARIABLE).filter((_part, i) => i % 2 === 0);
  const last = rest.pop();
  if (last === undefined) return template === name;
  if (!name.startsWith(first)) return false;
  let end = first.length;
  for (const part of rest) {
    const at = name.indexOf(part, end);
    if (at < 0) return false;
    end = at + part.length;
  }
  return end + last.length <= name.length && name.endsWith(last);
}

/** Puts values in the place of a name's variables. */
export const expandName = (name: string, values: Readonly<Record<NameVariable, string>>): string =>
  name.replaceAll(VARIABLE, (_all, variable: NameVariable) => values[variable]);
