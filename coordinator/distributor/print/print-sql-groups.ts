import type { SqlText } from '#shared/task/sql-text.ts';
import { must } from '#shared/must.ts';
import type { Expression } from '../../plan/expression.ts';
import type { Plan } from '../../plan/plan.ts';
import { NotPrintable } from './not-printable.ts';
import { printSqlAggregate } from './print-sql-call.ts';
import { isColumn, printSqlExpression, printSqlList, printSqlOrders } from './print-sql-expression.ts';
import { selectFrom, wrapQuery, type Names, type SqlRelation } from './print-sql-relation.ts';

type Node<Kind extends Plan['kind']> = Extract<Plan, { kind: Kind }>;

/** Groups, aggregates and GROUPING() results of a relation. */
export function printSqlGroups(plan: Node<'aggregate'>, input: SqlRelation, free: Names): SqlText {
  const { sets, groupings } = plan;
  const isPlain = plan.groups.every(isColumn) && (sets.length <= 1 || areDistinct(plan.groups));
  const computed = isPlain ? input : withGroups(input, plan.groups, free);
  const width = input.columns.length;
  const groups = plan.groups.map((group, i) =>
    isPlain ? printSqlExpression(group, input.columns) : must(computed.columns[width + i], 'a group'),
  );
  const aggregates = plan.aggregates.map((call) => printSqlAggregate(call, computed.columns));
  const grouping = groupings.map((list) => `GROUPING(${list.map((at) => must(groups[at], 'a group')).join(', ')})`);
  const selected = [...groups, ...aggregates, ...grouping];
  // An aggregate without groups and calls gives one row.
  if (groups.length === 0 && aggregates.length === 0) selected.push('count(*)');
  return selectFrom(computed, selected, { clauses: groupBy(groups, sets) });
}

const areDistinct = (groups: readonly Expression[]): boolean =>
  new Set(groups.map((group) => (group.kind === 'column' ? group.index : -1))).size === groups.length;

/** Computes the groups in a subquery, so that grouping sets, GROUPING() and the select list refer to them by name. */
function withGroups(input: SqlRelation, groups: readonly Expression[], free: Names): SqlRelation {
  const expressions = [...input.columns, ...groups.map((group) => printSqlExpression(group, input.columns))];
  return wrapQuery(selectFrom(input, expressions), expressions.length, free);
}

function groupBy(groups: readonly string[], sets: readonly (readonly number[])[]): string {
  const [only] = sets;
  if (sets.length <= 1 && (only === undefined || only.length === groups.length)) {
    return groups.length === 0 ? '' : ` GROUP BY ${groups.join(', ')}`;
  }
  const texts = sets.map((set) => `(${set.map((at) => must(groups[at], 'a group of the set')).join(', ')})`);
  return ` GROUP BY GROUPING SETS (${texts.join(', ')})`;
}

export function printSqlUnnest(plan: Node<'unnest'>, input: SqlRelation): SqlText {
  const lists = plan.expressions.map((expression) => {
    if (expression.kind !== 'unnest') throw new NotPrintable('an unnest of another form');
    return `unnest(${printSqlExpression(expression.child, input.columns)})`;
  });
  return selectFrom(input, [...input.columns, ...lists]);
}

export function printSqlDistinct(plan: Node<'distinct'>, input: SqlRelation): SqlText {
  const { on, orders } = plan;
  const isWhole =
    !plan.isOn &&
    on.every(isColumn) &&
    new Set(on.map((one) => isColumn(one) && one.index)).size === input.columns.length;
  if (isWhole || on.length === 0) return selectFrom(input, input.columns, { modifier: 'DISTINCT ' });
  const clauses = orders.length === 0 ? '' : ` ORDER BY ${printSqlOrders(orders, input.columns)}`;
  return selectFrom(input, input.columns, { modifier: `DISTINCT ON (${printSqlList(on, input.columns)}) `, clauses });
}
