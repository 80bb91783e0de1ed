import { SkeinError } from '#shared/error.ts';
import { insertOfArrived, type BoundExecution, type Executions } from '../../command/bound-insert.ts';
import type { Parameter, Parameters } from '../../statement/parameters.ts';
import { parametersOf, type BoundRows } from './bound-rows.ts';
import type { PreparedHandle } from './prepared-handles.ts';

/**
 * The executions of a prepared statement: one for each row that is bound to its parameters, or one alone when it has none.
 * @throws UNDEFINED_PARAMETER, WRONG_PARAMETER_COUNT
 */
export function executionsOf({ sql, description: { parameters }, bound }: PreparedHandle): Executions {
  if (parameters.length === 0) return { count: 1, all: [{ sql, parameters: null }] };
  if (bound === null) {
    const names = parameters.map(({ name }) => `$${name}`).slice(0, NAMES_SHOWN);
    throw new SkeinError('UNDEFINED_PARAMETER', `the statement has parameters without values: ${names.join(', ')}`);
  }
  requireCount(parameters.length, bound);
  const isNamed = parameters.some(({ name }) => !/^\d/.test(name));
  const execution = (values: readonly Parameter[]): BoundExecution => ({
    sql,
    parameters: isNamed ? named(parameters, values) : { kind: 'positional', values },
  });
  return { count: bound.count, all: parametersOf(bound).map(execution) };
}

function requireCount(parameters: number, { schema, count }: BoundRows): void {
  const columns = schema.fields.length;
  if (count === 0 || columns === parameters) return;
  const message = `the statement has ${parameters} parameters, the bound rows have ${columns} columns`;
  throw new SkeinError('WRONG_PARAMETER_COUNT', message);
}

const NAMES_SHOWN = 10;

const named = (names: readonly { readonly name: string }[], row: readonly Parameter[]): Parameters => ({
  kind: 'named',
  values: row.map((value, i) => [names[i]?.name ?? '', value] as const),
});

/**
 * The text that inserts all bound rows as a table that has come in; undefined for few rows, and for another statement (`insertOfArrived`).
 * @throws WRONG_PARAMETER_COUNT
 */
export function insertOfAll({ sql, description: { parameters }, bound }: PreparedHandle): string | undefined {
  const text = bound === null ? undefined : insertOfArrived(sql, bound.count);
  if (bound !== null && text !== undefined) requireCount(parameters.length, bound);
  return text;
}
