import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { printSqlLiteral } from '../distributor/print/print-sql-literal.ts';
import type { Expression } from '../plan/expression.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import { printSqlType } from '../plan/sql-type.ts';
import type { DerivedText } from '../statement/derived-text.ts';
import type { Proven } from '../statement/proven.ts';
import { SplicedText } from '../statement/spliced-text.ts';
import type { TextSpan } from '../statement/statement.ts';
import type { ValuePlace } from '../statement/value-place.ts';

type ConstantsQuery = { readonly query: TextSpan; readonly text: DerivedText; readonly values: readonly ValuePlace[] };

/**
 * The query that gives expressions, as parts of the statement, in columns. They stand there like values of parameters: DuckDB evaluates them as
 * the values of its own EXECUTE, which shows those that it cannot convert.
 */
export function constantsQuery(expressions: readonly Proven<'expression'>[]): ConstantsQuery {
  const first = must(expressions[0], 'an expression').offset;
  const source = spread(expressions, first);
  const query = { text: source, offset: first };
  const text = new SplicedText(query);
  const values: ValuePlace[] = [];
  let at = 0;
  const insert = (part: string): void => {
    text.insert(part);
    at += part.length;
  };
  expressions.forEach((expression, i) => {
    const { text: value } = expression;
    insert(i === 0 ? 'SELECT (' : '), (');
    text.splice(expression);
    values.push({ start: at, end: at + value.length, name: String(i + 1), spelled: String(i + 1), text: value });
    // A line break follows it.
    at += value.length + 1;
  });
  insert(')');
  return { query, text, values };
}

/** The expressions at their places in the statement, with spaces between them: only their places matter. */
function spread(expressions: readonly TextSpan[], first: number): string {
  const parts: string[] = [];
  let at = first;
  for (const { text, offset } of expressions) {
    parts.push(' '.repeat(offset - at), text);
    at = offset + text.length;
  }
  return parts.join('');
}

/** The constants that DuckDB's optimiser has made of the expressions, as SQL literals. @throws INVALID_ARGUMENT for one that is none */
export function constantsOf(expressions: readonly TextSpan[], { plan, scans }: PreparedQuery): readonly string[] {
  const isRow = plan?.kind === 'project' && plan.child.kind === 'oneRow' && scans.length === 0;
  const found = isRow && plan.expressions.length === expressions.length ? plan.expressions : [];
  return expressions.map(({ offset }, i) => {
    const value = found[i]?.expression;
    if (value?.kind === 'constant') return literalOf(value, offset);
    throw new SkeinError('INVALID_ARGUMENT', 'the values of EXECUTE are constant expressions', { position: offset });
  });
}

/** @throws INVALID_ARGUMENT for a constant of a type that has no literal */
function literalOf({ value, type }: Extract<Expression, { readonly kind: 'constant' }>, position: number): string {
  try {
    return printSqlLiteral(value, type);
  } catch (cause) {
    throw new SkeinError('INVALID_ARGUMENT', `EXECUTE takes no value of type ${printSqlType(type)}`, {
      position,
      cause,
    });
  }
}
