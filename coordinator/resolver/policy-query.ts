import { SkeinError } from '#shared/error.ts';
import type { Field } from '#shared/iceberg/type.ts';
import { must } from '#shared/must.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { knownPolicies, type KnownPolicy, type TablePolicies } from '../binding/table-policies.ts';
import { fieldType } from '../plan/iceberg-sql-type.ts';
import { printSqlType } from '../plan/sql-type.ts';

/** The name by which the query of a table's policies has the table; no body can name it. */
export const POLICED_TABLE = '@policed';

type PolicedTable = {
  /** For messages. */
  readonly tableName: string;
  /** The schema that the statement reads the table with. */
  readonly fields: readonly Field[];
  readonly policies: TablePolicies;
};

/**
 * Prints the query that applies the policies of a table: the rows of which every row policy is true, and in the place of a masked column the
 * value of its mask. Each policy sees its arguments alone, raw, under the names that its body has for them.
 * ```
 * SELECT "@mask/7" AS "card", "@field/1" AS "id"
 * FROM (SELECT ..., CAST((<mask>) AS VARCHAR) AS "@mask/7"
 *   FROM (SELECT ..., CAST("@field/7" AS VARCHAR) AS "val" FROM
 *     (SELECT ... FROM (SELECT ..., CAST("@field/3" AS BIGINT) AS "a" FROM (SELECT "region" AS "@field/3", ... FROM "@policed")) WHERE (<row policy>))))
 * ```
 * @param read the columns that it gives @throws NOT_SUPPORTED for a schema without a column that a policy needs
 */
export function policyQuery({ tableName, fields, policies }: PolicedTable, read: readonly Field[]): string {
  const known = knownPolicies(policies.policies, tableName);
  const masks = new Map(known.flatMap((one) => (one.kind === 'masking' ? [[one.fieldId, one] as const] : [])));
  for (const fieldId of masks.keys()) requireField(fieldId, fields, tableName);
  const rows = known.filter(({ kind }) => kind === 'row_access');
  const applied = read.flatMap(({ id }) => masks.get(id) ?? []);
  const needed = new Map(read.flatMap((field) => (masks.has(field.id) ? [] : [[field.id, field] as const])));
  for (const policy of [...rows, ...applied]) {
    for (const { fieldId } of policy.arguments) needed.set(fieldId, requireField(fieldId, fields, tableName));
  }
  const columns = needed.size === 0 ? ['NULL AS "@none"'] : [...needed.values()].map(rawColumn);
  const kept = needed.size === 0 ? ['"@none"'] : [...needed.keys()].map(rawName);
  let text = `SELECT ${columns.join(', ')} FROM ${quoteIdentifier(POLICED_TABLE)}`;
  for (const policy of rows) {
    text = `SELECT ${kept.join(', ')} FROM (${withArguments(policy, kept, text)}) WHERE (${policy.body}\n)`;
  }
  for (const policy of applied) {
    const { type } = fieldType(requireField(policy.fieldId, fields, tableName));
    const masked = maskName(policy.fieldId);
    const value = `CAST((${policy.body}\n) AS ${printSqlType(type)}) AS ${masked}`;
    text = `SELECT ${[...kept, value].join(', ')} FROM (${withArguments(policy, kept, text)})`;
    kept.push(masked);
  }
  const given = read.map(({ id, name }) => `${masks.has(id) ? maskName(id) : rawName(id)} AS ${quoteIdentifier(name)}`);
  return `SELECT ${given.length === 0 ? NO_COLUMN : given.join(', ')} FROM (${text})`;
}

/** The column of a query of which only the number of rows is wanted. */
const NO_COLUMN = 'CAST(NULL AS BOOLEAN) AS "@row"';

/** A bound column cannot be dropped; a snapshot of before it was added has none. */
function requireField(fieldId: number, fields: readonly Field[], tableName: string): Field {
  const field = fields.find(({ id }) => id === fieldId);
  if (field !== undefined) return field;
  throw new SkeinError('NOT_SUPPORTED', `table ${tableName} had no column for one of its policies at that snapshot`);
}

const rawName = (fieldId: number): string => quoteIdentifier(`@field/${fieldId}`);
const maskName = (fieldId: number): string => quoteIdentifier(`@mask/${fieldId}`);
const rawColumn = ({ id, name }: Field): string => `${quoteIdentifier(name)} AS ${rawName(id)}`;

/** The types are those of the columns when the policy was bound: a narrower one of an old snapshot is widened. */
function withArguments(policy: KnownPolicy, kept: readonly string[], text: string): string {
  const given = policy.arguments.map(
    ({ name, type, fieldId }) => `CAST(${rawName(fieldId)} AS ${type}) AS ${quoteIdentifier(name)}`,
  );
  must(given[0], 'a policy has an argument');
  return `SELECT ${[...kept, ...given].join(', ')} FROM (${text})`;
}
