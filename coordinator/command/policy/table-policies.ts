import { SkeinError } from '#shared/error.ts';
import { currentSchema, specById, type TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { walkFields } from '#shared/iceberg/type.ts';
import {
  POLICY_ARGUMENTS_MAX,
  type FoundPolicy,
  type PolicyKind,
  type PolicyRequest,
} from '#shared/policy/policy-request.ts';
import { loadOneTable } from '../../catalog-client/catalog-browser.ts';
import type { TableName } from '../../binding/table-source.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import { findColumn } from '../../operation/find-column.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import type { ObjectName } from '../../statement/statement.ts';
import type { StatementReader } from '../../statement/statement-reader.ts';
import { foundPolicy } from './found-policy.ts';
import { columnTypeName } from './policy-clauses.ts';
import { policyPlace } from './policy-place.ts';

/** A change of what is bound to a table. */
export type PolicyEdit =
  | {
      readonly kind: 'bind';
      readonly policyKind: PolicyKind;
      readonly policy: ObjectName;
      readonly columns: readonly ObjectName[];
    }
  | { readonly kind: 'unbind row'; readonly policy: ObjectName }
  | { readonly kind: 'unbind rows' }
  | { readonly kind: 'unmask'; readonly column: ObjectName };

/**
 * `ADD ROW ACCESS POLICY p ON (column, ...)`, `DROP ROW ACCESS POLICY p`, `DROP ALL ROW ACCESS POLICIES`,
 * `ALTER [COLUMN] c SET MASKING POLICY p [USING (c, column, ...)]`, `ALTER [COLUMN] c UNSET MASKING POLICY`, each alone in its statement; null
 * for anything else, of which nothing is taken.
 */
export function takePolicyEdit(reader: StatementReader): PolicyEdit | null {
  if (reader.takeWords('ADD', 'ROW', 'ACCESS', 'POLICY')) {
    const policy = reader.name('a policy', 3);
    if (!reader.takeWord('ON')) throw reader.expected('ON and the columns');
    return { kind: 'bind', policyKind: 'row_access', policy, columns: takeColumns(reader) };
  }
  if (reader.takeWords('DROP', 'ROW', 'ACCESS', 'POLICY')) {
    return { kind: 'unbind row', policy: reader.name('a policy', 3) };
  }
  if (reader.takeWords('DROP', 'ALL', 'ROW', 'ACCESS', 'POLICIES')) return { kind: 'unbind rows' };
  return takeMask(reader);
}

function takeMask(reader: StatementReader): PolicyEdit | null {
  if (reader.peekWord() !== 'ALTER') return null;
  const start = reader.peekWord(1) === 'COLUMN' ? 2 : 1;
  const isMask = reader.peekWord(start + 2) === 'MASKING' && reader.peekWord(start + 3) === 'POLICY';
  const word = reader.peekWord(start + 1);
  if (!isMask || (word !== 'SET' && word !== 'UNSET')) return null;
  reader.words(start);
  const column = reader.name('a column', 1);
  reader.words(3);
  if (word === 'UNSET') return { kind: 'unmask', column };
  const policy = reader.name('a policy', 3);
  const columns = reader.takeWord('USING') ? takeColumns(reader) : [column];
  return { kind: 'bind', policyKind: 'masking', policy, columns: [column, ...columns] };
}

function takeColumns(reader: StatementReader): readonly ObjectName[] {
  if (!reader.takeSymbol('(')) throw reader.expected("'('");
  const columns: ObjectName[] = [];
  do {
    if (columns.length === POLICY_ARGUMENTS_MAX)
      throw reader.error('STATEMENT_TOO_COMPLEX', `a policy has at most ${POLICY_ARGUMENTS_MAX} arguments`);
    columns.push(reader.name('a column', 1));
  } while (reader.takeSymbol(','));
  if (!reader.takeSymbol(')')) throw reader.expected("',' or ')'");
  return columns;
}

/** @throws FORBIDDEN, TABLE_NOT_FOUND, POLICY_NOT_FOUND, COLUMN_NOT_FOUND, TYPE_MISMATCH, ALREADY_EXISTS, COMMIT_CONFLICT */
export async function changePolicies(name: TableName, edit: PolicyEdit, context: CommandContext): Promise<void> {
  const loaded = loadOneTable(context.tables, name, context.signal).catch((error: unknown) => {
    throw SkeinError.of(error).code === 'WRONG_OBJECT_TYPE' ? notOfViews() : error;
  });
  const { metadata, version, name: stored } = await loaded;
  const table = { catalog: stored.catalog, namespace: [...stored.namespace], table: stored.table };
  const request = await requestOf(edit, { table, version, metadata }, context);
  context.beginCommit();
  await context.catalog.runPolicyStatement(context.caller.claims, request);
}

/** The error for a view in the place of a table. */
export const notOfViews = (place: { readonly position?: number } = {}): SkeinError =>
  new SkeinError('NOT_SUPPORTED', 'policies are bound to tables: a view has those of the tables that it reads', place);

type OwnTable = { readonly catalog: string; readonly namespace: string[]; readonly table: string };
type Read = { readonly table: OwnTable; readonly version: string; readonly metadata: TableMetadata };

async function requestOf(edit: PolicyEdit, read: Read, context: CommandContext): Promise<PolicyRequest> {
  const { table, version, metadata } = read;
  if (edit.kind === 'unbind rows') return { kind: 'unbind_row_policies', table };
  if (edit.kind === 'unbind row') {
    return { kind: 'unbind_row_policy', table, policy: await policyPlace(edit.policy, context) };
  }
  const { fields } = currentSchema(metadata);
  if (edit.kind === 'unmask') {
    const { field } = findColumn(fields, edit.column);
    return { kind: 'unset_masking_policy', table: { table, version }, fieldId: field.id };
  }
  const policy = await policyPlace(edit.policy, context);
  if (edit.policyKind === 'masking') requireUnordered(metadata, edit.columns[0]);
  const found = await withNamePosition(edit.policy, foundPolicy(policy, edit.policyKind, context));
  const bound = {
    table: { table, version },
    policy,
    version: found.version,
    fieldIds: [...fieldIds(edit, metadata, found)],
    mappings: [...(await withNamePosition(edit.policy, mappingsOf(found, context)))],
  };
  return edit.policyKind === 'masking'
    ? { kind: 'set_masking_policy', ...bound }
    : { kind: 'bind_row_policy', ...bound };
}

/**
 * Checks that a table is neither sorted nor partitioned by a column that is to be masked: rows come in the order of the files, which would tell of
 * its values, and of each of them beside one that the reader has inserted. @throws NOT_SUPPORTED
 */
function requireUnordered(metadata: TableMetadata, column: ObjectName | undefined): void {
  if (column === undefined) return;
  const { field } = findColumn(currentSchema(metadata).fields, column);
  const masked = new Set([...walkFields([field])].map(({ id }) => id));
  const { fields: partitions } = specById(metadata, metadata.defaultSpecId);
  const isPartition = partitions.some(({ sourceId, transform }) => transform.kind !== 'void' && masked.has(sourceId));
  if (!isPartition && metadata.sortOrder.every(({ sourceId }) => !masked.has(sourceId))) return;
  const by = isPartition ? 'partitioned' : 'sorted';
  const message = `the table is ${by} by column ${field.name}: the order of rows would tell of the values that the mask hides`;
  throw new SkeinError('NOT_SUPPORTED', message, column);
}

/** The columns of the arguments. A masking policy's first one stands before its list, which must begin with it, too. */
function fieldIds(
  { policyKind, policy, columns: named }: Extract<PolicyEdit, { kind: 'bind' }>,
  metadata: TableMetadata,
  { arguments: args }: FoundPolicy,
): readonly number[] {
  const { fields } = currentSchema(metadata);
  const found = named.map((column) => ({ column, field: findColumn(fields, column).field }));
  const columns = policyKind === 'masking' ? found.slice(1) : found;
  const [first] = columns;
  if (policyKind === 'masking' && first !== undefined && first.field.id !== found[0]?.field.id) {
    throw new SkeinError('INVALID_REQUEST', 'USING begins with the column that is masked', first.column);
  }
  if (columns.length !== args.length) {
    const message = `the policy ${policy.parts.join('.')} has ${args.length} arguments, and ${columns.length} columns are named`;
    throw new SkeinError('INVALID_REQUEST', message, policy);
  }
  return columns.map(({ column, field }, i) => {
    const wanted = args[i];
    const type = columnTypeName(field.type);
    if (wanted === undefined || wanted.type === type) return field.id;
    const message = `column ${field.name} is ${type}, and the argument ${wanted.shown} of the policy ${wanted.type}`;
    throw new SkeinError('TYPE_MISMATCH', message, column);
  });
}

/** The tables that the body reads, as they are now: it must still bind over them. */
async function mappingsOf({ body, arguments: args, returns }: FoundPolicy, { queries }: CommandContext) {
  const proven = await queries.prove((take) => take('expression', { text: body, offset: 0 }));
  return (await queries.policyBody(proven, { arguments: args, returns })).mappings;
}
