import { LEVELS } from '#shared/mlfq-spec.ts';
import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Node, type YAMLMap } from 'yaml';
import { parseBytes, parseDuration } from '#shared/config/parse-setting.ts';
import { SkeinError } from '#shared/error.ts';
import { didYouMean, nearestName } from '#shared/nearest-name.ts';
import { QUERY_TYPES } from '../statement/query-type.ts';
import { PRIORITY_MAX, WORK_CLASSES } from './work-class.ts';
import {
  DEFAULT_WORKLOAD,
  DURATION_MAX_MS,
  GROUP_DEFAULTS,
  SCHEDULING_POLICIES,
  type GroupSpec,
  type RoutingRule,
  type Workload,
} from './workload.ts';

/** Most bytes of the file, groups of it, rules, and depth of the tree. */
export const WORKLOAD_BYTES_MAX = 1_000_000;
const GROUPS_MAX = 1_000;
const RULES_MAX = 1_000;
const DEPTH_MAX = 10;
const LIMIT_MAX = 1_000_000;
const WEIGHT_MAX = 1_000_000;

/**
 * Reads the text of a workload file (service specification, Resource group; docs/workload.md).
 * @throws INVALID_CONFIGURATION that names the file, line and column of the first thing that is wrong
 */
export function readWorkload(text: string, file: string): Workload {
  return new WorkloadReader(text, file).read();
}

type Fields = ReadonlyMap<string, { readonly key: Node; readonly value: Node }>;

class WorkloadReader {
  readonly #text: string;
  readonly #file: string;
  readonly #lines = new LineCounter();
  #groups = 0;

  constructor(text: string, file: string) {
    this.#text = text;
    this.#file = file;
  }

  read(): Workload {
    if (Buffer.byteLength(this.#text) > WORKLOAD_BYTES_MAX)
      this.#fail(0, `the file has more than ${WORKLOAD_BYTES_MAX} bytes`);
    const document = parseDocument(this.#text, { lineCounter: this.#lines, prettyErrors: false });
    const [problem] = [...document.errors, ...document.warnings];
    if (problem !== undefined) this.#fail(problem.pos[0], problem.message);
    if (document.contents === null) return DEFAULT_WORKLOAD;
    const fields = this.#fields(document.contents, [
      'resource_groups',
      'routing_rules',
      'classes',
      'mlfq',
      'cpu_quota_period',
    ]);
    const root = this.#root(fields.get('resource_groups')?.value);
    const rules = this.#items(fields.get('routing_rules')?.value, RULES_MAX).map((node) => this.#rule(node, root));
    return {
      root,
      rules,
      classes: this.#classes(fields.get('classes')?.value),
      mlfq: this.#mlfq(fields.get('mlfq')?.value),
      cpuQuotaPeriodMs: this.#duration(fields.get('cpu_quota_period')?.value, 0) ?? DEFAULT_WORKLOAD.cpuQuotaPeriodMs,
    };
  }

  #root(node: Node | undefined): GroupSpec {
    if (node === undefined) return DEFAULT_WORKLOAD.root;
    const [first, second] = this.#items(node, GROUPS_MAX);
    if (first === undefined) return this.#fail(at(node), 'expected a list with one group, root');
    if (second !== undefined) this.#fail(at(second), 'expected one group, root, with the others in its groups');
    const root = this.#group(first, 1);
    if (root.name !== 'root') this.#fail(at(first), `the first group must have the name root, not ${quote(root.name)}`);
    return root;
  }

  #group(node: Node, depth: number): GroupSpec {
    if (depth > DEPTH_MAX) this.#fail(at(node), `groups are nested more than ${DEPTH_MAX} deep`);
    if (++this.#groups > GROUPS_MAX) this.#fail(at(node), `the file has more than ${GROUPS_MAX} groups`);
    const fields = this.#fields(node, [
      'name',
      'hard_concurrency_limit',
      'soft_concurrency_limit',
      'max_queued_queries',
      'soft_memory_limit_bytes',
      'soft_cpu_limit_ms',
      'hard_cpu_limit_ms',
      'scheduling_policy',
      'scheduling_weight',
      'groups',
    ]);
    const value = (name: string): Node | undefined => fields.get(name)?.value;
    const name = this.#groupName(value('name') ?? this.#fail(at(node), 'the group has no name'));
    const softCpuLimitMs = this.#integer(value('soft_cpu_limit_ms'), 1, Number.MAX_SAFE_INTEGER);
    const hardCpuLimitMs = this.#integer(value('hard_cpu_limit_ms'), 1, Number.MAX_SAFE_INTEGER);
    if (softCpuLimitMs !== null && hardCpuLimitMs !== null && hardCpuLimitMs < softCpuLimitMs)
      this.#fail(at(value('hard_cpu_limit_ms')), 'hard_cpu_limit_ms is less than soft_cpu_limit_ms');
    const groups = this.#items(value('groups'), GROUPS_MAX).map((one) => ({
      node: one,
      spec: this.#group(one, depth + 1),
    }));
    for (const [i, { node: one, spec }] of groups.entries()) {
      if (groups.slice(0, i).some((other) => other.spec.name === spec.name))
        this.#fail(at(one), `the group ${quote(name)} has two groups with the name ${quote(spec.name)}`);
    }
    const policy = this.#choice(value('scheduling_policy'), SCHEDULING_POLICIES);
    return {
      name,
      hardConcurrencyLimit:
        this.#integer(value('hard_concurrency_limit'), 1, LIMIT_MAX) ?? GROUP_DEFAULTS.hardConcurrencyLimit,
      softConcurrencyLimit:
        this.#integer(value('soft_concurrency_limit'), 1, LIMIT_MAX) ?? GROUP_DEFAULTS.softConcurrencyLimit,
      maxQueuedQueries: this.#integer(value('max_queued_queries'), 0, LIMIT_MAX) ?? GROUP_DEFAULTS.maxQueuedQueries,
      softMemoryLimitBytes: this.#integer(value('soft_memory_limit_bytes'), 0, Number.MAX_SAFE_INTEGER),
      softCpuLimitMs,
      hardCpuLimitMs,
      schedulingPolicy: policy ?? GROUP_DEFAULTS.schedulingPolicy,
      schedulingWeight: this.#integer(value('scheduling_weight'), 1, WEIGHT_MAX) ?? GROUP_DEFAULTS.schedulingWeight,
      groups: groups.map(({ spec }) => spec),
    };
  }

  #groupName(node: Node): string {
    const name = this.#string(node);
    const isName = /^[\w-]{1,64}$/.test(name.replaceAll(/\$\{(?:TENANT|USER|SOURCE)\}/g, '_'));
    if (isName) return name;
    return this.#fail(
      at(node),
      `a group's name has letters, digits, - and _, and may hold \${TENANT}, \${USER} and \${SOURCE}; ${quote(name)} does not`,
    );
  }

  #rule(node: Node, root: GroupSpec): RoutingRule {
    const fields = this.#fields(node, [
      'match_tenant',
      'match_user',
      'match_source',
      'match_resource_pool',
      'match_query_type',
      'target_group',
      'priority',
    ]);
    const text = (name: string): string | null => {
      const found = fields.get(name)?.value;
      return found === undefined ? null : this.#string(found);
    };
    const target = fields.get('target_group')?.value ?? this.#fail(at(node), 'the rule has no target_group');
    return {
      tenant: text('match_tenant'),
      user: text('match_user'),
      source: text('match_source'),
      resourcePool: text('match_resource_pool'),
      queryType: this.#choice(fields.get('match_query_type')?.value, QUERY_TYPES),
      target: this.#target(target, root),
      priority: this.#integer(fields.get('priority')?.value, 0, PRIORITY_MAX),
    };
  }

  /** A group that stands in the tree, by its dotted path. */
  #target(node: Node, root: GroupSpec): readonly string[] {
    const path = this.#string(node);
    const names = path.split('.');
    const [first, ...rest] = names;
    let group = first === root.name ? root : undefined;
    for (const name of rest) group = group?.groups.find((one) => one.name === name);
    if (group === undefined) this.#fail(at(node), `there is no group ${quote(path)}`);
    return names;
  }

  #classes(node: Node | undefined): Workload['classes'] {
    const defaults = DEFAULT_WORKLOAD.classes;
    if (node === undefined) return defaults;
    const fields = this.#fields(node, WORK_CLASSES);
    const entries = WORK_CLASSES.map((name) => {
      const own = fields.get(name)?.value;
      if (own === undefined) return [name, defaults[name]] as const;
      const limits = this.#fields(own, ['timeout', 'memory']);
      const timeoutMs = this.#duration(limits.get('timeout')?.value, 1) ?? defaults[name].timeoutMs;
      const memoryBytes = this.#bytes(limits.get('memory')?.value) ?? defaults[name].memoryBytes;
      return [name, { timeoutMs, memoryBytes }] as const;
    });
    return Object.fromEntries(entries) as Workload['classes'];
  }

  #mlfq(node: Node | undefined): Workload['mlfq'] {
    const defaults = DEFAULT_WORKLOAD.mlfq;
    if (node === undefined) return defaults;
    const fields = this.#fields(node, ['levels_ms', 'level_weight_ratio']);
    const levels = fields.get('levels_ms')?.value;
    const ratio = fields.get('level_weight_ratio')?.value;
    const levelsMs = this.#items(levels, LEVELS).map((one) => this.#integer(one, 1, Number.MAX_SAFE_INTEGER) ?? 0);
    const isRising = levelsMs.every((ms, i) => ms > (levelsMs[i - 1] ?? 0));
    if (levels !== undefined && (levelsMs.length !== LEVELS - 1 || !isRising))
      this.#fail(at(levels), `expected ${LEVELS - 1} numbers that rise: where each level but the last ends`);
    return {
      levelsMs: levels === undefined ? defaults.levelsMs : levelsMs,
      levelWeightRatio: ratio === undefined ? defaults.levelWeightRatio : this.#number(ratio, 1, 100),
    };
  }

  /** The entries of a mapping with these keys. */
  #fields(node: Node, known: readonly string[]): Fields {
    if (!isMap(node)) return this.#fail(at(node), `expected ${known.join(', ')}`);
    const fields = new Map<string, { readonly key: Node; readonly value: Node }>();
    for (const { key, value } of (node as YAMLMap<Node, Node | null>).items) {
      const name = isScalar(key) && typeof key.value === 'string' ? key.value : this.#fail(at(key), 'expected a name');
      if (!known.includes(name))
        this.#fail(at(key), `unknown key ${quote(name)}${didYouMean(nearestName(name, known))}`);
      if (value === null || (isScalar(value) && value.value === null))
        return this.#fail(at(key), `${name} has no value`);
      fields.set(name, { key, value });
    }
    return fields;
  }

  /** The items of a list; none when there is no list. */
  #items(node: Node | undefined, most: number): readonly Node[] {
    if (node === undefined) return [];
    if (!isSeq(node)) return this.#fail(at(node), 'expected a list');
    if (node.items.length > most) this.#fail(at(node), `the list has more than ${most} entries`);
    return node.items as Node[];
  }

  #string(node: Node): string {
    if (isScalar(node) && typeof node.value === 'string') return node.value;
    // A name such as 42 is a number in YAML.
    if (isScalar(node) && typeof node.value === 'number' && node.source !== undefined) return node.source;
    return this.#fail(at(node), 'expected a text');
  }

  #integer(node: Node | undefined, min: number, max: number): number | null {
    if (node === undefined) return null;
    const value = this.#number(node, min, max);
    return Number.isSafeInteger(value) ? value : this.#fail(at(node), 'expected an integer');
  }

  #number(node: Node, min: number, max: number): number {
    const value = isScalar(node) ? node.value : undefined;
    if (typeof value === 'number' && value >= min && value <= max) return value;
    return this.#fail(at(node), `expected a number from ${min} to ${max}`);
  }

  #choice<T extends string>(node: Node | undefined, values: readonly T[]): T | null {
    if (node === undefined) return null;
    const text = this.#string(node);
    return (
      values.find((one) => one === text) ?? this.#fail(at(node), `expected ${values.join(', ')}, not ${quote(text)}`)
    );
  }

  #duration(node: Node | undefined, minMs: number): number | null {
    if (node === undefined) return null;
    const ms = this.#parsed(node, parseDuration, 'a duration such as 30s, 5m or 1h');
    return ms >= minMs && ms <= DURATION_MAX_MS
      ? ms
      : this.#fail(at(node), `expected from ${minMs} ms to ${DURATION_MAX_MS} ms`);
  }

  #bytes(node: Node | undefined): number | null {
    if (node === undefined) return null;
    const bytes = this.#parsed(node, parseBytes, 'a size such as 512MB or 4GiB');
    return bytes >= 1 ? bytes : this.#fail(at(node), 'expected a size of at least 1 byte');
  }

  #parsed(node: Node, parse: (text: string) => number, expected: string): number {
    try {
      return parse(this.#string(node));
    } catch {
      return this.#fail(at(node), `expected ${expected}`);
    }
  }

  #fail(offset: number, message: string): never {
    const { line, col } = this.#lines.linePos(offset);
    throw new SkeinError('INVALID_CONFIGURATION', `${this.#file}:${Math.max(line, 1)}:${Math.max(col, 1)}: ${message}`);
  }
}

const at = (node: Node | undefined): number => node?.range?.[0] ?? 0;

const quote = (text: string): string => JSON.stringify(text.slice(0, 100));
