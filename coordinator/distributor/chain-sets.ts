import { must } from '#shared/must.ts';
import { expressionKey } from '../plan/expression-tree.ts';
import type { AggregateCall, Expression } from '../plan/expression.ts';
import { outputFields } from '../plan/plan-schema.ts';
import { freeCteIndex, mapChildren } from '../plan/plan-tree.ts';
import type { Plan } from '../plan/plan.ts';
import type { SqlField } from '../plan/sql-type.ts';
import { BIGINT, columnRef, constant, type SplitCall } from './place/aggregate-calls.ts';
import { splitCall } from './place/aggregate-splits.ts';

type AggregatePlan = Extract<Plan, { kind: 'aggregate' }>;
type GroupingSet = readonly number[];

/** With more groups, a GROUPING() of all of them would be more than a number of JavaScript holds exactly. */
const GROUPS_MAX = 50;
/** With more sets (CUBE of 15 columns has 32,768), finding the larger set of each would hold up the coordinator. */
const SETS_MAX = 64;

/**
 * ```
 * aggregate a, b: sum(x)            cte 0: aggregate a, b: sum(x)
 *     sets (a, b), (a), ()     ->            child
 *   child                             cte 1: aggregate a: sum(sum) <- cteScan 0
 *                                       union: a, b <- cteScan 0; a, NULL <- cteScan 1; NULL, NULL <- aggregate: sum(sum) <- cteScan 1
 * ```
 * Computes the groups of each set from those of the smallest larger one, which are far fewer than the rows. DuckDB puts every row into a hash
 * table for each set, all at once: they take that many times the time, and their buffers can be more memory than a task has. Fires for the
 * aggregates that the distributor has marked (`chained`), of which `canChain` holds.
 */
export function chainSets(plan: Plan): Plan {
  let next = freeCteIndex(plan);
  const chain = (node: Plan): Plan => {
    const below = mapChildren(node, chain);
    const parts = below.kind === 'aggregate' && below.chained === true ? chainParts(below) : null;
    if (below.kind !== 'aggregate' || parts === null) return below;
    const first = next;
    next += parts.links.length;
    return chainOf(below, { ...parts, first });
  };
  return chain(plan);
}

/**
 * Whether the sets of an aggregate can be computed from each other: one has all columns of the others, and the calls' results are merged from
 * results alone (not so `list`, DISTINCT).
 */
export const canChain = (node: AggregatePlan): boolean => chainParts(node) !== null;

function chainParts({ groups, sets, aggregates }: AggregatePlan): Pick<Chain, 'links' | 'merges'> | null {
  if (groups.length > GROUPS_MAX || sets.length > SETS_MAX) return null;
  const links = linksOf(sets);
  const merges = aggregates.map(mergeOf);
  return links === null || !merges.every((merge) => merge !== null) ? null : { links, merges };
}

/** A set, and which of the links before it computes its groups; null: the rows do. */
type Link = { readonly set: GroupingSet; readonly from: number | null };

/** The sets by size, larger ones first; null when another than the first has to be computed from the rows. */
function linksOf(sets: readonly GroupingSet[]): readonly Link[] | null {
  const ordered = sets.toSorted((a, b) => b.length - a.length);
  const links = ordered.map((set, i): Link => {
    const from = ordered.slice(0, i).findLastIndex((larger) => set.every((at) => larger.includes(at)));
    return { set, from: from < 0 ? null : from };
  });
  return links.every(({ from }, i) => i === 0 || from !== null) ? links : null;
}

/** How results of a call are merged into results of the same call; null when they cannot be. */
function mergeOf(call: AggregateCall): SplitCall | null {
  const split = call.distinct ? null : splitCall(call);
  if (split === null || split.sums !== undefined || split.partial.length !== 1) return null;
  const key = (one: AggregateCall): string => expressionKey({ kind: 'aggregate', call: one });
  return split.partial.every((one) => key(one) === key(call)) ? split : null;
}

type Chain = {
  readonly links: readonly Link[];
  readonly merges: readonly SplitCall[];
  /** The index of the first link's common table expression; that of link i is i more. */
  readonly first: number;
};

function chainOf(node: AggregatePlan, { links, merges, first }: Chain): Plan {
  // Every link has the same columns: the groups of its set, then the calls.
  const fieldsOf = ({ set }: Link): readonly SqlField[] => {
    const fields = outputFields(node);
    const calls = fields.slice(node.groups.length, node.groups.length + merges.length);
    return [...set.map((at) => must(fields[at], 'a group')), ...calls];
  };
  const scanOf = (i: number): Plan => {
    const columns = fieldsOf(must(links[i], 'a link')).map(({ name, type }, index) => ({ index, name, type }));
    return { kind: 'cteScan', index: first + i, columns };
  };
  const definitions = links.map((link) => {
    if (link.from === null) return groupRows(node, link.set);
    const from = must(links[link.from], 'a link');
    return mergeGroups({ scan: scanOf(link.from), from: from.set, set: link.set, fields: fieldsOf(from), merges });
  });
  const isRead = (i: number): boolean => links.some(({ from }) => from === i);
  const parts = links.map((link, i) => {
    const child = isRead(i) ? scanOf(i) : must(definitions[i], 'a definition');
    return placeColumns(node, link.set, child);
  });
  const union: Plan = { kind: 'union', all: true, children: parts };
  return definitions.reduceRight<Plan>((body, definition, i) => {
    if (!isRead(i)) return body;
    return { kind: 'cte', index: first + i, name: `set${i}`, definition, body };
  }, union);
}

/** Computes the groups of a set from the rows. */
function groupRows(node: AggregatePlan, set: GroupingSet): Plan {
  const groups = set.map((at) => must(node.groups[at], 'a group'));
  const { child, aggregates } = node;
  return { kind: 'aggregate', child, groups, sets: [groups.map((_, i) => i)], aggregates, groupings: [] };
}

/** Computes the groups of a set from those of a larger one, which are the rows of `scan`. */
function mergeGroups(step: {
  readonly scan: Plan;
  readonly from: GroupingSet;
  readonly set: GroupingSet;
  readonly fields: readonly SqlField[];
  readonly merges: readonly SplitCall[];
}): Plan {
  const { scan, from, set, fields, merges } = step;
  const column = (index: number): Expression => columnRef(index, must(fields[index], 'a column').type);
  const groups = set.map((at) => column(from.indexOf(at)));
  const merged = merges.map(({ merge }, i) => merge([column(from.length + i)], []));
  const starts = merged.map((_, i) => set.length + merged.slice(0, i).flat().length);
  const aggregate: Plan = {
    kind: 'aggregate',
    child: scan,
    groups,
    sets: groups.length === 0 ? [] : [groups.map((_, i) => i)],
    aggregates: merged.flat(),
    groupings: [],
  };
  const types = outputFields(aggregate).map(({ type }) => type);
  const at = (index: number): Expression => columnRef(index, must(types[index], 'a column'));
  const results = merges.map(({ result }, i) =>
    result(must(merged[i], 'the merged calls').map((_, k) => at(must(starts[i], 'a start') + k))),
  );
  const expressions = [...groups.map((_, i) => at(i)), ...results];
  return {
    kind: 'project',
    child: aggregate,
    expressions: expressions.map((expression) => ({ name: '', expression })),
  };
}

/** Gives the groups of a set the columns of the whole aggregate. */
function placeColumns(node: AggregatePlan, set: GroupingSet, child: Plan): Plan {
  const fields = outputFields(node);
  const groups = node.groups.map((_, at): Expression => {
    const { type } = must(fields[at], 'a group');
    const index = set.indexOf(at);
    return index < 0 ? { kind: 'constant', value: null, type } : columnRef(index, type);
  });
  const calls = node.aggregates.map(({ type }, i) => columnRef(set.length + i, type));
  const groupings = node.groupings.map((list) => constant(grouping(list, set), BIGINT));
  const expressions = [...groups, ...calls, ...groupings];
  return {
    kind: 'project',
    child,
    expressions: expressions.map((expression, i) => ({ name: fields[i]?.name ?? '', expression })),
  };
}

/** GROUPING(): a bit for each group, the last one the lowest, which is set where the set does not have it. */
const grouping = (list: readonly number[], set: GroupingSet): number =>
  list.reduce((bits, at) => bits * 2 + (set.includes(at) ? 0 : 1), 0);
