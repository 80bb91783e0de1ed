import { unreachable } from '#shared/must.ts';
import type { Group } from './group.ts';
import { canGive, isTemplate, type GroupLimits, type RoutingRule } from './workload.ts';

/** A resource group as it is now; running, queued, memory and CPU time count its subtree. */
export type GroupSnapshot = GroupLimits & {
  /** Dotted, from the root on. */
  readonly path: string;
  /** The path as the file spells it when the group was made from a template; null = the group stands in the file. */
  readonly template: string | null;
  /** Tenants whose queries a group made from a template has had; null = the group stands in the file. */
  readonly tenants: ReadonlySet<string> | null;
  readonly running: number;
  readonly queued: number;
  /** Queries that may run at once now: less than the hard limit while the group is over its soft CPU limit. */
  readonly effectiveConcurrency: number;
  readonly memoryBytes: number;
  readonly cpuTimeMs: number;
  /** CPU time that counts against the limits. */
  readonly cpuUsageMs: number;
};

/** A group as it is now; `tenants` goes on with the group. */
export const snapshotOf = (group: Group): GroupSnapshot => ({
  ...group.limits,
  path: group.path,
  template: group.isDynamic ? group.specPath : null,
  tenants: group.isDynamic ? group.tenants : null,
  running: group.running,
  queued: group.queued,
  effectiveConcurrency: group.effectiveConcurrency,
  memoryBytes: group.memoryBytes,
  cpuTimeMs: group.cpuTimeMs,
  cpuUsageMs: group.cpuUsageMs,
});

/** Why a query waits. */
export type WaitReason =
  | {
      readonly kind: 'concurrency';
      readonly group: string;
      readonly running: number;
      readonly limit: number;
      /** The limit is below the hard one because of the CPU time that the group has used. */
      readonly isReduced: boolean;
    }
  | { readonly kind: 'groupMemory'; readonly group: string; readonly memoryBytes: number; readonly limitBytes: number }
  | { readonly kind: 'memory'; readonly heldBytes: number; readonly totalBytes: number };

/** The reason in words: `root.etl runs 4 of 4`. */
export function printReason(reason: WaitReason): string {
  switch (reason.kind) {
    case 'concurrency': {
      const why = reason.isReduced ? ', fewer because of the CPU time that it has used' : '';
      return `${reason.group} runs ${reason.running} of ${reason.limit}${why}`;
    }
    case 'groupMemory':
      return `${reason.group} holds ${mib(reason.memoryBytes)} of memory, more than its ${mib(reason.limitBytes)}`;
    case 'memory':
      return `queries hold ${mib(reason.heldBytes)} of the workers' ${mib(reason.totalBytes)} of memory`;
    default:
      return unreachable(reason);
  }
}

const mib = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;

/**
 * The groups that a tenant may see: those of the file that its statements can reach, also under a name that a template gives, with all
 * above them, and of the groups made from templates those that have had its queries.
 */
export function visibleTo(
  tenant: string,
  groups: readonly GroupSnapshot[],
  rules: readonly RoutingRule[],
): readonly GroupSnapshot[] {
  const targets = rules.filter((rule) => rule.tenant === null || rule.tenant === tenant).map(({ target }) => target);
  const paths = (names: readonly string[]): readonly string[] =>
    names.map((_name, i) => names.slice(0, i + 1).join('.'));
  const reached = new Set(['root', ...targets.flatMap(paths)]);
  const templates = new Map(
    targets.filter((names) => names.some(isTemplate)).map((names) => [names.join('.'), ofTenant(names, tenant)]),
  );
  const isReached = (path: string): boolean => {
    if (reached.has(path)) return true;
    if (templates.size === 0) return false;
    const names = path.split('.');
    return templates.values().some((steps) => names.every((name, i) => canGive(steps[i] ?? '', name)));
  };
  return groups.filter(({ path, tenants }) => (tenants === null ? isReached(path) : tenants.has(tenant)));
}

/** A target of a rule for one tenant: its other variables may have any value. */
const ofTenant = (names: readonly string[], tenant: string): readonly string[] =>
  names.map((name) => name.replaceAll('${TENANT}', () => tenant));

/** The groups of an admission that a tenant may see. */
export const tenantGroups = (
  admission: { describe(): readonly GroupSnapshot[]; readonly rules: readonly RoutingRule[] },
  tenant: string,
): readonly GroupSnapshot[] => visibleTo(tenant, admission.describe(), admission.rules);
