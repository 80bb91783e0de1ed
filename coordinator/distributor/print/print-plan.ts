import type { SqlText } from '#shared/task/sql-text.ts';
import { must, unreachable } from '#shared/must.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import type { Expression } from '../../plan/expression.ts';
import type { Limit, Plan } from '../../plan/plan.ts';
import { outputFields } from '../../plan/plan-schema.ts';
import { printSqlType } from '../../plan/sql-type.ts';
import { checkNesting } from './check-nesting.ts';
import { changesForm, fromExchange, toExchange } from './exchange-form.ts';
import { expandDelimJoins } from '../shape/expand-delim-joins.ts';
import { NotPrintable } from './not-printable.ts';
import { printSqlWindow } from './print-sql-call.ts';
import { isColumn, printSqlExpression, printSqlOrders } from './print-sql-expression.ts';
import { printSqlGroups, printSqlDistinct, printSqlUnnest } from './print-sql-groups.ts';
import { printSqlJoin } from './print-sql-join.ts';
import { castType } from './print-sql-literal.ts';
import { joinSql, sql } from './print-sql-parts.ts';
import { EMPTY_COLUMN, printSqlGenerator, printSqlSample, printSqlValues } from './print-sql-source.ts';
import {
  closeRelation,
  joinOf,
  rightOf,
  bareTable,
  names,
  operand,
  pickColumns,
  selectFrom,
  tableRelation,
  untailed,
  withDefinitions,
  wrapQuery,
  type Names,
  type SqlRelation,
} from './print-sql-relation.ts';

type Node<Kind extends Plan['kind']> = Extract<Plan, { kind: Kind }>;

/** The numbers of a plan's leaves in the text's `{ scan }` and `{ input }` parts. */
export type Leaves = {
  /** Returns the scan's `{ scan }` number; its relation has the columns of its binding, by their names. */
  readonly scan: (node: Node<'scan'>) => number;
  /** Returns the stage's `{ input }` number; its relation has columns `c0`, `c1`, ..., numbered by `PlanColumn.index`. */
  readonly stage: (node: Node<'stage'>) => number;
};

export type PrintOptions = {
  /** Other fragments read the rows, so values take the form of `exchangeType`. */
  readonly travels?: boolean;
  /** Adds a last column, a UINTEGER below `count`: the row's partition by `keys`, which are over the plan's output. */
  readonly partition?: {
    readonly keys: readonly Expression[];
    readonly count: number;
    /** A row with a NULL key is partitioned by all of its columns. */
    readonly spreadNulls: boolean;
  };
};

/**
 * Prints a plan as one SQL text that gives exactly its output columns, in order, named `c0`, `c1`, ... An exchange prints as its child.
 * @throws NotPrintable when SQL cannot say it, or it is too deep.
 */
export function printPlan(plan: Plan, leaves: Leaves, options: PrintOptions = {}): SqlText {
  try {
    checkOutput(plan);
    const expanded = expandDelimJoins(plan);
    const printer: Printer = { leaves, names: names(), definitions: [], isRecursive: false };
    const query = output(expanded, options, printer);
    const text = withDefinitions(printer.definitions, printer.isRecursive, query);
    checkNesting(text);
    return text;
  } catch (error) {
    if (error instanceof RangeError) throw new NotPrintable('it is nested too deeply');
    throw error;
  }
}

/** DuckDB answers a column of no type as an INTEGER, which its reader does not expect. */
function checkOutput(plan: Plan): void {
  if (outputFields(plan).some(({ type }) => printSqlType(type).includes('"NULL"'))) {
    throw new NotPrintable('a column of NULLs without a type');
  }
}

type Printer = {
  readonly leaves: Leaves;
  readonly names: Names;
  /** Definitions of the WITH clause being printed; each may use the earlier ones. */
  definitions: SqlText[];
  isRecursive: boolean;
};

/**
 * The hash tables of the task that reads a partition use the lowest and the highest bits of the same hash: a partition by those would
 * leave their slots unevenly filled (a join of one of 16 partitions cost a third more).
 */
const PARTITION_SHIFT = 32;

function output(plan: Plan, { partition, travels = false }: PrintOptions, printer: Printer): SqlText {
  const types = outputFields(plan).map(({ type }) => type);
  if (partition === undefined && !(travels && types.some(changesForm))) return select(plan, printer);
  const { columns, ...relation } = relationOf(plan, printer);
  const given = columns.map((column, i) => {
    const type = must(types[i], 'a type for each column');
    return travels ? toExchange(type, column) : column;
  });
  const last = partition === undefined ? [] : [partitionOf(columns, partition)];
  return selectFrom({ ...relation, columns }, [...given, ...last]);
}

function partitionOf(columns: readonly string[], partition: NonNullable<PrintOptions['partition']>): string {
  const keys = partition.keys.map((key) => printSqlExpression(key, columns));
  const byKeys = `hash(${keys.join(', ')})`;
  const anyNull = keys.map((key) => `${key} IS NULL`).join(' OR ');
  const hash = partition.spreadNulls
    ? `CASE WHEN ${anyNull} THEN hash(${columns.join(', ')}) ELSE ${byKeys} END`
    : byKeys;
  return `CAST(((${hash}) >> ${PARTITION_SHIFT}) % ${partition.count} AS UINTEGER)`;
}

/** Prints the node as a query. */
function select(plan: Plan, printer: Printer): SqlText {
  switch (plan.kind) {
    case 'project': {
      const input = relationOf(plan.child, printer);
      // Expressions are not computed for rows that a LIMIT cuts off.
      const relation = / LIMIT /.test(input.tail) ? untailed(input, printer.names) : input;
      return selectFrom(
        relation,
        plan.expressions.map(({ expression }) => printSqlExpression(expression, relation.columns)),
      );
    }
    case 'aggregate':
      return printSqlGroups(plan, untailed(relationOf(plan.child, printer), printer.names), printer.names);
    case 'window': {
      const input = untailed(relationOf(plan.child, printer), printer.names);
      return selectFrom(input, [...input.columns, ...plan.calls.map((call) => printSqlWindow(call, input.columns))]);
    }
    case 'unnest':
      return printSqlUnnest(plan, untailed(relationOf(plan.child, printer), printer.names));
    case 'distinct':
      return printSqlDistinct(plan, untailed(relationOf(plan.child, printer), printer.names));
    case 'union':
    case 'intersect':
    case 'except': {
      const inputs = plan.children.map((child) => sql`(${select(child, printer)})`);
      return joinSql(inputs, ` ${plan.kind.toUpperCase()}${plan.all ? ' ALL' : ''} `);
    }
    case 'empty':
      return sql`SELECT ${plan.columns.map(({ type }, i) => `CAST(NULL AS ${castType(type)}) AS c${i}`).join(', ')} WHERE false`;
    case 'join': {
      const printed = printSqlJoin(
        plan,
        { left: relationOf(plan.left, printer), right: relationOf(plan.right, printer) },
        printer.names,
      );
      return 'query' in printed ? printed.query : closeRelation(printed.relation);
    }
    case 'exchange':
      return select(plan.child, printer);
    case 'cte':
      define(plan, printer);
      return select(plan.body, printer);
    case 'scan':
    case 'generator':
    case 'values':
    case 'oneRow':
    case 'filter':
    case 'sort':
    case 'limit':
    case 'sample':
    case 'cross':
    case 'positional':
    case 'recursiveCte':
    case 'cteScan':
    case 'stage':
    case 'delimScan':
      return closeRelation(relationOf(plan, printer));
    default:
      return unreachable(plan);
  }
}

/** Prints the node as a relation for FROM. */
function relationOf(plan: Plan, printer: Printer): SqlRelation {
  switch (plan.kind) {
    case 'scan':
      return scanRelation(plan, printer);
    case 'stage':
      return stageRelation(plan, printer);
    case 'generator':
      return printSqlGenerator(plan, plan.child === null ? null : relationOf(plan.child, printer), printer.names);
    case 'values': {
      const hasRows = plan.child !== null && plan.child.kind !== 'oneRow';
      return printSqlValues(plan, hasRows ? relationOf(plan.child, printer) : null, printer.names);
    }
    case 'oneRow':
      return { ...bareTable([]), columns: ['CAST(NULL AS INTEGER)'] };
    case 'project': {
      // Columns that are only picked cost no subquery.
      if (!plan.expressions.every(({ expression }) => isColumn(expression))) return queryRelation(plan, printer);
      const input = relationOf(plan.child, printer);
      return {
        ...input,
        columns: plan.expressions.map(({ expression }) => printSqlExpression(expression, input.columns)),
      };
    }
    case 'filter': {
      const input = untailed(relationOf(plan.child, printer), printer.names);
      const where = plan.conditions.map((condition) => printSqlExpression(condition, input.columns));
      return { ...input, where: [...input.where, ...where], columns: pickColumns(input.columns, plan.projection) };
    }
    case 'sort': {
      const input = untailed(relationOf(plan.child, printer), printer.names);
      const tail = ` ORDER BY ${printSqlOrders(plan.orders, input.columns)}`;
      return { ...input, tail, columns: pickColumns(input.columns, plan.projection) };
    }
    case 'limit':
      return limit(plan, printer);
    case 'sample':
      return printSqlSample(plan, relationOf(plan.child, printer), printer.names);
    case 'join':
      return joinRelation(plan, printer);
    case 'cross':
    case 'positional':
      return besideRelation(plan, printer);
    case 'cte':
      define(plan, printer);
      return relationOf(plan.body, printer);
    case 'recursiveCte': {
      defineRecursive(plan, printer);
      return cteRelation(plan.index, outputFields(plan).length, printer);
    }
    case 'cteScan':
      return cteRelation(plan.index, plan.columns.length, printer);
    case 'exchange':
      return relationOf(plan.child, printer);
    case 'delimScan':
      throw new NotPrintable('correlation columns without their join');
    case 'aggregate':
    case 'window':
    case 'unnest':
    case 'distinct':
    case 'union':
    case 'intersect':
    case 'except':
    case 'empty':
      return queryRelation(plan, printer);
    default:
      return unreachable(plan);
  }
}

function scanRelation(plan: Node<'scan'>, printer: Printer): SqlRelation {
  const name = printer.names.next('t');
  const columns = plan.columns.map((column) =>
    column.index < 0 ? EMPTY_COLUMN : `${name}.${quoteIdentifier(column.name)}`,
  );
  return { ...bareTable(sql`${{ scan: printer.leaves.scan(plan) }} AS ${name}`), columns };
}

function stageRelation(plan: Node<'stage'>, printer: Printer): SqlRelation {
  const name = printer.names.next('t');
  const columns = plan.columns.map((column) => `${name}.c${column.index}`);
  const input: SqlText = [{ input: printer.leaves.stage(plan) }];
  if (!plan.columns.some(({ type }) => changesForm(type))) return { ...bareTable(sql`${input} AS ${name}`), columns };
  const list = plan.columns.map(({ type, index }) => `${fromExchange(type, `c${index}`)} AS c${index}`);
  return { ...bareTable(sql`(SELECT ${list.join(', ')} FROM ${input}) AS ${name}`), columns };
}

function joinRelation(plan: Node<'join'>, printer: Printer): SqlRelation {
  const printed = printSqlJoin(
    plan,
    { left: relationOf(plan.left, printer), right: relationOf(plan.right, printer) },
    printer.names,
  );
  return 'query' in printed ? wrapQuery(printed.query, outputFields(plan).length, printer.names) : printed.relation;
}

/** Two relations side by side, without a condition. */
function besideRelation(plan: Node<'cross' | 'positional'>, printer: Printer): SqlRelation {
  const left = operand(relationOf(plan.left, printer), printer.names);
  const right = operand(relationOf(plan.right, printer), printer.names);
  const word = plan.kind === 'cross' ? 'CROSS' : 'POSITIONAL';
  return {
    ...joinOf(sql`${left.from} ${word} JOIN ${rightOf(right)}`),
    columns: [...left.columns, ...right.columns],
  };
}

const queryRelation = (plan: Plan, printer: Printer): SqlRelation =>
  wrapQuery(select(plan, printer), outputFields(plan).length, printer.names);

function limit(plan: Node<'limit'>, printer: Printer): SqlRelation {
  const input = relationOf(plan.child, printer);
  const open = / LIMIT | OFFSET /.test(input.tail) ? untailed(input, printer.names) : input;
  if (plan.limit.kind !== 'expression' && plan.offset.kind !== 'expression') {
    return {
      ...open,
      tail: `${open.tail}${bound(' LIMIT', plan.limit, String)}${bound(' OFFSET', plan.offset, String)}`,
    };
  }
  // The number is a column of the rows, the same in all of them.
  const name = printer.names.next('limited');
  printer.definitions.push(sql`${name} AS MATERIALIZED (${closeRelation(open)})`);
  const first = (expression: Expression): string => {
    const columns = open.columns.map((_, i) => `c${i}`);
    return `(SELECT ${printSqlExpression(expression, columns)} FROM ${name} LIMIT 1)`;
  };
  const tail = `${bound(' LIMIT', plan.limit, first)}${bound(' OFFSET', plan.offset, first)}`;
  return { ...tableRelation([name], name, open.columns.length), tail };
}

function bound(word: string, one: Limit, print: (expression: Expression) => string): string {
  switch (one.kind) {
    case 'none':
      return '';
    case 'rows':
      return `${word} ${one.rows}`;
    case 'percent':
      return `${word} ${one.percent}%`;
    case 'expression':
      return `${word} ${print(one.expression)}${one.percent ? '%' : ''}`;
    default:
      return unreachable(one);
  }
}

const cteName = (index: number): string => `cte${index}`;

function cteRelation(index: number, width: number, printer: Printer): SqlRelation {
  const name = printer.names.next('t');
  return tableRelation([`${cteName(index)} AS ${name}`], name, width);
}

function define({ index, definition }: Node<'cte'>, printer: Printer): void {
  const query = select(definition, printer);
  printer.definitions.push(sql`${cteName(index)} AS MATERIALIZED (${query})`);
}

/** Defines a recursive CTE. Definitions inside its step are computed in every round, so they are printed in the step. */
function defineRecursive({ index, anchor, step, all, isKeyed }: Node<'recursiveCte'>, printer: Printer): void {
  if (isKeyed === true) throw new NotPrintable('a recursive CTE with USING KEY');
  const first = select(anchor, printer);
  const inner: Printer = { ...printer, definitions: [], isRecursive: false };
  const query = select(step, inner);
  const next = withDefinitions(inner.definitions, inner.isRecursive, query);
  printer.isRecursive = true;
  printer.definitions.push(sql`${cteName(index)} AS ((${first}) UNION ${all ? 'ALL ' : ''}(${next}))`);
}
