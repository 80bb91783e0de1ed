import { must } from '#shared/must.ts';
import { expressionKey } from '../planner/expression-tree.ts';
import type { AggregateCall, Expression } from '../planner/expression.ts';
import { outputFields } from '../planner/plan-schema.ts';
import { freeCteIndex, mapChildren } from '../planner/plan-tree.ts';
import type { Plan } from '../planner/plan.ts';
import type { SqlField, SqlType } from '../planner/sql-type.ts';
import { BIGINT, constant, type SplitCall } from './place/aggregate-calls.ts';
import { splitCall } from './place/aggregate-splits.ts';

type AggregatePlan = Extract<Plan, { kind: 'aggregate' }>;
type GroupingSet = readonly number[];

/** More groups than a GROUPING() of all of them could number. */
const GROUPS_MAX = 50;

/**
 * ```
 * aggregate a, b: sum(x)            cte 0: aggregate a, b: sum(x)
 *     sets (a, b), (a), ()     ->            child
 *   child                             cte 1: aggregate a: sum(sum) <- cteScan 0
 *                                       union: a, b <- cteScan 0; a, NULL <- cteScan 1; NULL, NULL <- aggregate: sum(sum) <- cteScan 1
 * ```
 * Computes the groups of each set from those of the smallest larger one, which are far fewer than the rows. DuckDB puts every row into a hash
 * table for each set, all at once: they take that many times the time, and their buffers can be more memory than a task has. Does not fire
 * where no set has all columns of the others, or a result is not merged from results alone (`list`, DISTINCT).
 */
export function chainSets(plan: Plan): Plan {
  let next = freeCteIndex(plan);
  const chain = (node: Plan): Plan => {
    const below = mapChildren(node, chain);
    if (below.kind !== 'aggregate' || below.chained !== true) return below;
    const links = linksOf(below.sets);
    const merges = below.aggregates.map(mergeOf);
    if (links === null || below.groups.length > GROUPS_MAX || !merges.every((merge) => merge !== null)) return below;
    const first = next;
    next += links.length;
    return chainOf(below, { links, merges, first });
  };
  return chain(plan);
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

const columnOf = (index: number, type: SqlType): Expression => ({ kind: 'column', index, name: '', type });

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
  const column = (index: number): Expression => columnOf(index, must(fields[index], 'a column').type);
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
  const at = (index: number): Expression => columnOf(index, must(types[index], 'a column'));
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
    return index < 0 ? { kind: 'constant', value: null, type } : columnOf(index, type);
  });
  const calls = node.aggregates.map(({ type }, i) => columnOf(set.length + i, type));
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
