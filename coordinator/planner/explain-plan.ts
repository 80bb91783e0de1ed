import type { Literal, Predicate } from '#shared/iceberg/predicate.ts';
import { printJson, type Json, type JsonObject } from '#shared/json.ts';
import { unreachable } from '#shared/must.ts';
import { printCount } from '#shared/print-count.ts';
import { quoteLiteral } from '#shared/sql/quote.ts';
import { stageTitle } from '../plan/stage-title.ts';
import { bindingName, bindingRows, type TableBinding } from '../binding/table-binding.ts';
import { estimateRows } from '../plan/estimate-rows.ts';
import type { JoinPlan, Limit, Plan } from '../plan/plan.ts';
import { children } from '../plan/plan-tree.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import {
  operatorText,
  printAggregate,
  printExpression,
  printList,
  printOrders,
  printWindow,
} from '../plan/print-expression.ts';

/** EXPLAIN (TYPE LOGICAL): the text is a line per node and detail, the JSON one document. */
export function explainPlan(query: PreparedQuery, format: 'text' | 'json'): readonly string[] {
  if (format === 'json')
    return [printJson({ plan: query.plan === null ? null : jsonNode(query.plan, contextOf(query)) }, 2)];
  if (query.plan === null) {
    return [`This query runs whole on one worker; its plan ${query.noPlan}.`, ...query.scans.flatMap(scanLines)];
  }
  return textNode(query.plan, contextOf(query), 0);
}

/** Nodes whose titles have values of the statement behind their first word. */
const TITLES_WITH_VALUES: ReadonlySet<Plan['kind']> = new Set(['generator', 'limit', 'sample']);

/** The operators of a plan without any value of the statement, for records that must not have them: a line each, with its tables. */
export function outlinePlan(query: PreparedQuery): readonly string[] {
  if (query.plan === null) return explainPlan({ ...query, scans: [] }, 'text');
  const context = contextOf(query);
  const outline = (plan: Plan, depth: number): string[] => {
    const { name } = nodeText(plan, context, true);
    const line = `${'   '.repeat(depth)}${depth === 0 ? '' : '└─ '}${name}${rowsText(plan, context)}`;
    return [line, ...children(plan).flatMap((child) => outline(child, depth + 1))];
  };
  return outline(query.plan, 0);
}

/** Additional data that EXPLAIN prints with a plan. */
export type ExplainContext = {
  readonly scans: readonly TableBinding[];
  /** Names of scans by their numbers, where there are no bindings. */
  readonly names?: ReadonlyMap<number, string>;
  /** Estimated rows of a node; null = not printed. */
  readonly rowsOf: ((plan: Plan) => number) | null;
};

export const contextOf = ({ scans }: Pick<PreparedQuery, 'scans'>): ExplainContext => {
  const scanRows = scans.map(bindingRows);
  return { scans, rowsOf: (plan) => estimateRows(plan, scanRows) };
};

/** A line per node and detail, inputs below what reads them. */
export function textNode(plan: Plan, context: ExplainContext, depth: number): string[] {
  const indent = '   '.repeat(depth);
  const details = detailsOf(plan, context).map((line) => `${indent}       ${line}`);
  return [
    `${indent}${depth === 0 ? '' : '└─ '}${titleOf(plan, context)}${rowsText(plan, context)}`,
    ...details,
    ...children(plan).flatMap((child) => textNode(child, context, depth + 1)),
  ];
}

const rowsText = (plan: Plan, { rowsOf }: ExplainContext): string =>
  rowsOf === null ? '' : `  {rows: ${printCount(rowsOf(plan))}}`;

export function jsonNode(plan: Plan, context: ExplainContext): JsonObject {
  const inputs = children(plan).map((child): Json => jsonNode(child, context));
  return { ...nodeText(plan, context, false), children: inputs };
}

type NodeText = {
  readonly name: string;
  readonly details: readonly string[];
  readonly estimates?: { readonly rows: number };
};

/** A node without its inputs; `hidesValues`: without any value of the statement, for records that must not have them. */
export function nodeText(plan: Plan, context: ExplainContext, hidesValues: boolean): NodeText {
  const title = titleOf(plan, context);
  const [word = ''] = hidesValues && TITLES_WITH_VALUES.has(plan.kind) ? title.split(' ') : [title];
  return {
    name: word,
    details: hidesValues ? [] : detailsOf(plan, context),
    ...(context.rowsOf === null ? {} : { estimates: { rows: Math.round(context.rowsOf(plan)) } }),
  };
}

function titleOf(plan: Plan, { scans, names }: ExplainContext): string {
  switch (plan.kind) {
    case 'scan':
      return `Scan ${names?.get(plan.scan) ?? nameOf(plan.scan, scans)}${plan.read === undefined ? '' : ` (${plan.read})`}`;
    case 'generator':
      return `Generate ${plan.name}(${printList(plan.arguments)})`;
    case 'values':
      return `Values (${plan.rows.length})`;
    case 'oneRow':
      return 'OneRow';
    case 'empty':
      return 'Empty';
    case 'filter':
      return 'Filter';
    case 'project':
      return 'Project';
    case 'aggregate':
      return 'Aggregate';
    case 'window':
      return 'Window';
    case 'unnest':
      return 'Unnest';
    case 'distinct':
      return plan.isOn ? 'DistinctOn' : 'Distinct';
    case 'sort':
      return 'Sort';
    case 'limit':
      return `Limit ${printLimit(plan.limit)}${plan.offset.kind === 'none' ? '' : ` offset ${printLimit(plan.offset)}`}`;
    case 'sample':
      return `Sample ${printJson(plan.options)}`;
    case 'join':
      return joinTitle(plan);
    case 'cross':
      return 'CrossJoin';
    case 'positional':
      return 'PositionalJoin';
    case 'delimScan':
      return 'CorrelatedValues';
    case 'union':
    case 'intersect':
    case 'except':
      return `${plan.kind.charAt(0).toUpperCase()}${plan.kind.slice(1)}${plan.all ? 'All' : ''}`;
    case 'cte':
      return `Cte ${plan.name} (${plan.index})`;
    case 'recursiveCte':
      return `RecursiveCte ${plan.name} (${plan.index})`;
    case 'cteScan':
      return `CteScan (${plan.index})`;
    case 'exchange':
      return `Exchange ${plan.to.kind}`;
    case 'stage':
      return `Stage ${stageTitle(plan.stage)} (${plan.read})`;
    default:
      return unreachable(plan);
  }
}

const joinTitle = (join: JoinPlan): string =>
  [
    join.asof ? 'Asof' : '',
    join.delim === null ? '' : 'Correlated',
    `Join ${join.type.toUpperCase()}`,
    join.distribution === null ? '' : ` (${join.distribution})`,
  ].join('');

function detailsOf(plan: Plan, { scans }: ExplainContext): string[] {
  switch (plan.kind) {
    case 'scan': {
      const scan = scans[plan.scan];
      return scan === undefined ? [] : scanLines(scan).slice(1);
    }
    case 'filter':
      return plan.conditions.map(printExpression);
    case 'project':
      return [
        plan.expressions
          .map(({ name, expression }) => {
            const text = printExpression(expression);
            return name === '' || name === text ? text : `${text} AS ${name}`;
          })
          .join(', '),
      ];
    case 'aggregate':
      return [
        ...(plan.groups.length === 0 ? [] : [`groups: ${printList(plan.groups)}`]),
        ...(plan.sets.length < 2
          ? []
          : [`grouping sets: ${printJson(plan.sets)}${plan.chained === true ? ', each from a larger one' : ''}`]),
        ...(plan.aggregates.length === 0 ? [] : [plan.aggregates.map(printAggregate).join(', ')]),
      ];
    case 'window':
      return plan.calls.map(printWindow);
    case 'unnest':
      return [printList(plan.expressions)];
    case 'distinct':
      return plan.isOn ? [printList(plan.on)] : [];
    case 'sort':
      return [printOrders(plan.orders)];
    case 'join':
      return [
        ...plan.conditions.map((c) => `${printExpression(c.left)} ${operatorText(c.op)} ${printExpression(c.right)}`),
        ...(plan.residual === null ? [] : [printExpression(plan.residual)]),
      ];
    case 'generator':
    case 'values':
    case 'oneRow':
    case 'empty':
    case 'limit':
    case 'sample':
    case 'cross':
    case 'positional':
    case 'delimScan':
    case 'union':
    case 'intersect':
    case 'except':
    case 'cte':
    case 'recursiveCte':
    case 'cteScan':
    case 'exchange':
    case 'stage':
      return [];
    default:
      return unreachable(plan);
  }
}

function nameOf(scan: number, scans: readonly TableBinding[]): string {
  const binding = scans[scan];
  return binding === undefined ? String(scan) : bindingName(binding);
}

function scanLines(scan: TableBinding): string[] {
  if (scan.kind === 'rows') return [`Scan ${scan.rows.title}`, `rows: ${scan.rows.rowCount}`];
  if (scan.kind === 'staged') return [`Scan ${scan.table.title}`, `files: ${scan.table.spec.files.length}`];
  if (scan.kind === 'policed') return [`Scan ${scan.table.tableName}`, 'policy applied'];
  const names = new Map(scan.columns.map((column) => [column.fieldId, column.name]));
  const nameOf = (fieldId: number): string => names.get(fieldId) ?? `field ${fieldId}`;
  return [
    `Scan ${scan.tableName}`,
    `snapshot: ${scan.snapshotId ?? 'none'}, columns: ${scan.readFieldIds.map(nameOf).join(', ') || 'none'}`,
    ...(scan.predicate.kind === 'true' ? [] : [`prunes by: ${printPredicate(scan.predicate, nameOf)}`]),
  ];
}

function printPredicate(predicate: Predicate, nameOf: (fieldId: number) => string): string {
  switch (predicate.kind) {
    case 'true':
    case 'false':
      return predicate.kind;
    case 'and':
    case 'or':
      return `(${predicate.children.map((c) => printPredicate(c, nameOf)).join(predicate.kind === 'and' ? ' AND ' : ' OR ')})`;
    case 'compare':
      return `${nameOf(predicate.fieldId)} ${operatorText(predicate.op)} ${printLiteral(predicate.value)}`;
    case 'in':
      return `${nameOf(predicate.fieldId)} IN (${predicate.values.map(printLiteral).join(', ')})`;
    case 'startsWith':
      return `${nameOf(predicate.fieldId)} starts with ${quoteLiteral(predicate.prefix)}`;
    case 'isNull':
      return `${nameOf(predicate.fieldId)} IS NULL`;
    case 'notNull':
      return `${nameOf(predicate.fieldId)} IS NOT NULL`;
    default:
      return unreachable(predicate);
  }
}

/** Prints a literal as it is stored: a date is its day number. */
const printLiteral = (value: Literal): string => {
  if (typeof value === 'string') return quoteLiteral(value);
  return value instanceof Uint8Array ? `x'${Buffer.from(value).toString('hex')}'` : String(value);
};

function printLimit(limit: Limit): string {
  switch (limit.kind) {
    case 'none':
      return 'none';
    case 'rows':
      return String(limit.rows);
    case 'percent':
      return `${limit.percent}%`;
    case 'expression':
      return `${printExpression(limit.expression)}${limit.percent ? '%' : ''}`;
    default:
      return unreachable(limit);
  }
}
