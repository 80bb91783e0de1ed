import { SkeinError } from '#shared/error.ts';
import { POLICY_ARGUMENTS_MAX, type PolicyKind } from '#shared/policy/policy-request.ts';
import type { IcebergType } from '#shared/iceberg/type.ts';
import { checkIdentifier } from '#shared/sql/check-identifier.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { icebergSqlType } from '../../plan/iceberg-sql-type.ts';
import { printSqlType } from '../../plan/sql-type.ts';
import type { TextSpan } from '../../statement/statement.ts';
import type { StatementReader } from '../../statement/statement-reader.ts';
import { takeColumnType } from '../clause/column-type.ts';

export type PolicyArgument = { readonly name: string; readonly type: string };

/** The type of a column, as policies spell it. @throws NOT_SUPPORTED for a type that DuckDB cannot hold */
export const columnTypeName = (type: IcebergType): string => printSqlType(icebergSqlType(type));

/** `AS (name TYPE, ...) RETURNS TYPE` @throws SYNTAX_ERROR */
export function takeSignature(
  reader: StatementReader,
  kind: PolicyKind,
): { readonly arguments: readonly PolicyArgument[]; readonly returns: string } {
  if (!reader.takeWord('AS')) throw reader.expected('AS and the arguments');
  if (!reader.takeSymbol('(')) throw reader.expected("'('");
  const args: PolicyArgument[] = [];
  const names = new Set<string>();
  do {
    if (args.length === POLICY_ARGUMENTS_MAX)
      throw reader.error('STATEMENT_TOO_COMPLEX', `a policy has at most ${POLICY_ARGUMENTS_MAX} arguments`);
    const { position } = reader;
    const name = reader.takeName();
    if (name === null || name === '') throw reader.expected('the name of an argument');
    checkIdentifier(name, position);
    if (names.has(foldIdentifier(name)))
      throw new SkeinError('SYNTAX_ERROR', `two arguments are called ${name}`, { position });
    names.add(foldIdentifier(name));
    const { position: at } = reader;
    const type = columnTypeName(takeColumnType(reader, name));
    if (/ WITH TIME ZONE/.test(type)) {
      throw new SkeinError(
        'NOT_SUPPORTED',
        `an argument of a policy cannot be ${type}: it follows the time zone of the reader`,
        { position: at },
      );
    }
    args.push({ name, type });
  } while (reader.takeSymbol(','));
  if (!reader.takeSymbol(')')) throw reader.expected("',' or ')'");
  if (!reader.takeWord('RETURNS')) throw reader.expected('RETURNS');
  const { position } = reader;
  const returns = columnTypeName(takeColumnType(reader, 'the policy'));
  const wanted = kind === 'row_access' ? 'BOOLEAN' : args[0]?.type;
  if (returns !== wanted) {
    throw new SkeinError('TYPE_MISMATCH', `the policy returns ${wanted ?? ''}`, { position });
  }
  return { arguments: args, returns };
}

/** `-> expression`, to the end of the statement. @throws SYNTAX_ERROR */
export function takeBody(reader: StatementReader): TextSpan {
  // The tokenizer knows the arrow as one symbol or as two.
  if (!reader.takeSymbol('->') && !(reader.takeSymbol('-') && reader.takeSymbol('>'))) throw reader.expected("'->'");
  const body = reader.expression('an expression');
  reader.end();
  return body;
}
