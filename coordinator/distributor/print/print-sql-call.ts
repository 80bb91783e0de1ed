import { must } from '#shared/must.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import type { AggregateCall, Expression, WindowCall } from '../../plan/expression.ts';
import { NotPrintable } from './not-printable.ts';
import { printSqlExpression, printSqlList, printSqlOrders, type Columns } from './print-sql-expression.ts';

/** An aggregate in a select list. @throws NotPrintable */
export function printSqlAggregate(call: AggregateCall, columns: Columns): string {
  const filter = call.filter === null ? '' : ` FILTER (WHERE ${printSqlExpression(call.filter, columns)})`;
  if (call.name === 'count_star') return `count(*)${filter}`;
  const orders = call.orders.length === 0 ? '' : ` ORDER BY ${printSqlOrders(call.orders, columns)}`;
  const distinct = call.distinct ? 'DISTINCT ' : '';
  return `${aggregateName(call.name)}(${distinct}${printSqlList([...call.children, ...erased(call)], columns)}${orders})${filter}`;
}

function erased(call: AggregateCall | WindowCall): readonly Expression[] {
  if (call.erased === null) throw new NotPrintable(`the constant arguments of ${call.name}`);
  return call.erased ?? [];
}

/** Returns the SQL name of an aggregate: an optimiser's variant is printed as the original, which gives the same result. */
const aggregateName = (name: string): string => quoteIdentifier(name === 'sum_no_overflow' ? 'sum' : name);

/** A window call with its OVER clause. @throws NotPrintable */
export function printSqlWindow(call: WindowCall, columns: Columns): string {
  const { offset, defaultValue } = call.frame;
  const values = [...call.children, ...erased(call), ...[offset, defaultValue].filter((one) => one !== null)];
  const isStar = call.name === 'count_star';
  const inside = [
    isStar ? '*' : `${call.distinct ? 'DISTINCT ' : ''}${printSqlList(values, columns)}`,
    call.argumentOrders.length === 0 ? '' : ` ORDER BY ${printSqlOrders(call.argumentOrders, columns)}`,
    call.ignoreNulls ? ' IGNORE NULLS' : '',
  ];
  const filter = call.filter === null ? '' : ` FILTER (WHERE ${printSqlExpression(call.filter, columns)})`;
  const over = [
    call.partitions.length === 0 ? '' : `PARTITION BY ${printSqlList(call.partitions, columns)}`,
    call.orders.length === 0 ? '' : `ORDER BY ${printSqlOrders(call.orders, columns)}`,
    printFrame(call, columns),
  ];
  const name = isStar ? 'count' : aggregateName(call.name);
  return `${name}(${inside.join('')})${filter} OVER (${over.filter((text) => text !== '').join(' ')})`;
}

function printFrame({ frame }: WindowCall, columns: Columns): string {
  const start = bound(frame.start, frame.startExpression, columns);
  const end = bound(frame.end, frame.endExpression, columns);
  const exclude = EXCLUDES[frame.exclude];
  if (exclude === undefined) throw new NotPrintable(`the exclusion ${frame.exclude} of a window`);
  const units = new Set([start.unit, end.unit].filter((unit) => unit !== null));
  if (units.size > 1) throw new NotPrintable('a window frame of two units');
  const [unit = 'RANGE'] = units;
  return `${unit} BETWEEN ${start.text} AND ${end.text}${exclude}`;
}

const EXCLUDES: Readonly<Record<string, string>> = {
  NO_OTHER: '',
  CURRENT_ROW: ' EXCLUDE CURRENT ROW',
  GROUP: ' EXCLUDE GROUP',
  TIES: ' EXCLUDE TIES',
};

type Bound = { readonly unit: string | null; readonly text: string };

function bound(kind: string, expression: Expression | null, columns: Columns): Bound {
  const [, place, direction, unit] =
    /^(UNBOUNDED|CURRENT_ROW|EXPR)(?:_(PRECEDING|FOLLOWING))?(?:_(ROWS|RANGE|GROUPS))?$/.exec(kind) ?? [
      null,
      '',
      '',
      '',
    ];
  switch (place) {
    case 'UNBOUNDED':
      return { unit: null, text: `UNBOUNDED ${must(direction, 'a direction')}` };
    case 'CURRENT_ROW':
      return { unit: unit ?? null, text: 'CURRENT ROW' };
    case 'EXPR': {
      const value = must(expression, 'a bound has a value');
      const distance = unit === 'RANGE' ? rangeDistance(value) : value;
      return { unit: unit ?? null, text: `${printSqlExpression(distance, columns)} ${must(direction, 'a direction')}` };
    }
    default:
      throw new NotPrintable(`the window bound ${kind}`);
  }
}

/** Recovers the distance of a RANGE bound, which the binder has replaced by `order key - distance`. */
function rangeDistance(value: Expression): Expression {
  const call = value.kind === 'cast' ? value.child : value;
  const distance = call.kind === 'function' && (call.name === '-' || call.name === '+') ? call.children[1] : undefined;
  if (distance === undefined) throw new NotPrintable('the bound of a window that orders by range');
  return distance;
}
