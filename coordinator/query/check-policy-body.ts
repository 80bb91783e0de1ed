import type { StatementContext } from '#shared/sql/statement-context.ts';
import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { argumentName } from '#shared/policy/argument-name.ts';
import { BODY_BYTES_MAX, MAPPING_TABLES_MAX, type MappingRequest } from '#shared/policy/policy-request.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import type { QualifiedColumn, QueryReferences, TableReference } from '../binding/query-references.ts';
import { schemaName } from '../catalog-client/catalog-browser.ts';
import { tableKey, type TableName } from '../binding/table-source.ts';
import { printSqlType } from '../plan/sql-type.ts';
import type { PolicyBody, PolicySignature } from '../operation/policy-body.ts';
import type { PrepareRequest } from '../prepare/prepare-request.ts';
import { bindTables, type BoundScan } from '../resolver/bind-tables.ts';
import { ZONED_TYPES } from '../resolver/body-names.ts';
import { plannerSql, renamedSql, spliceTables } from '../resolver/splice-tables.ts';
import type { Proven } from '../statement/proven.ts';
import { SplicedText } from '../statement/spliced-text.ts';
import { prepareDerivedText } from './prepare-derived-text.ts';
import type { StatementParts } from './statement-parts.ts';

type Checked = { readonly signature: PolicySignature; readonly context: StatementContext };

/**
 * Binds a body over its arguments and its mapping tables. @throws SkeinError of the catalogue, with its place in the statement
 *
 *     region IN (SELECT r FROM m)
 *     SELECT ("policy argument 1" IN (SELECT r FROM <scan 0> AS "m")) AS "value" FROM (SELECT CAST(NULL AS VARCHAR) AS "policy argument 1") AS "arguments"
 */
export async function checkPolicyBody(
  parts: StatementParts,
  body: Proven<'expression'>,
  { signature, context }: Checked,
): Promise<PolicyBody> {
  const position = body.offset;
  if (Buffer.byteLength(body.text) > BODY_BYTES_MAX) {
    throw new SkeinError('STATEMENT_TOO_COMPLEX', `a policy's body has at most ${BODY_BYTES_MAX} bytes`, { position });
  }
  const text = new SplicedText(body).insert(HEAD).splice(body).insert(')');
  const work = (request: PrepareRequest): Promise<PolicyBody> => bindBody(request, signature);
  return prepareDerivedText(parts, body, text, { context, values: [], work });
}

const HEAD = 'SELECT (';
/** Between the body and the bracket behind it. */
const TAIL = '\n)';

/** The arguments by the names that the completed body has for them. */
const argumentsSql = ({ arguments: args }: PolicySignature): string => {
  const columns = args.map(({ type }, i) => `CAST(NULL AS ${type}) AS ${quoteIdentifier(argumentName(i))}`);
  return ` AS "value" FROM (SELECT ${columns.join(', ')}) AS "arguments"`;
};

async function bindBody(request: PrepareRequest, signature: PolicySignature): Promise<PolicyBody> {
  const { sql, context, asker, planner, tables: source, signal } = request;
  const defaults = { catalog: context.currentCatalog, schema: context.currentSchema };
  const references = await planner.parse({ sql, defaults, context, isBody: true }, asker, signal);
  const { tables, named } = references;
  const bound = await bindTables({ references: tables, defaults, source, named, rows: new Map(), signal });
  const scans = bound.map((table, i) => plainTable(table, must(tables[i], 'a reference for each table')));
  const columns = argumentColumns(references, signature, scans);
  const spliced = spliceTables(sql, { ...references, columns: [...references.columns, ...columns], names: [] });
  const texts = { sql: plannerSql(spliced) + argumentsSql(signature), scans: scans.map(plannerScan) };
  const { columns: found } = await planner.describe(
    { ...texts, context, contextual: references.contextual },
    asker,
    signal,
  );
  const type = found?.[0] === undefined ? 'no type' : printSqlType(found[0].type);
  if (type !== signature.returns) {
    const message = `the body gives ${type}, and the policy returns ${signature.returns}`;
    throw new SkeinError('TYPE_MISMATCH', message, { position: HEAD.length });
  }
  const names = scans.map(({ name }) =>
    [name.catalog, schemaName(name.namespace), name.table].map(quoteIdentifier).join('.'),
  );
  const whole = renamedSql(spliced, names);
  return { body: whole.slice(HEAD.length, whole.length - TAIL.length), mappings: mappingsOf(scans) };
}

/** @throws NOT_SUPPORTED for anything but a table as it is, and for one with times that follow the time zone of the reader */
function plainTable(
  table: Awaited<ReturnType<typeof bindTables>>[number],
  { at, location, parts }: TableReference,
): BoundScan {
  const refuse = (message: string): never => {
    throw new SkeinError('NOT_SUPPORTED', message, { position: location });
  };
  const isPlain =
    table.kind === 'iceberg' && at === null && foldIdentifier(parts.at(-1) ?? '') === foldIdentifier(table.name.table);
  if (!isPlain) return refuse('the body of a policy reads tables as they are, and nothing else');
  const zoned = table.sqlFields.find(({ type }) => ZONED_TYPES.has(printSqlType(type)));
  if (zoned === undefined) return table;
  return refuse(`a policy cannot read the table, whose column ${zoned.name} follows the time zone of the reader`);
}

/**
 * The places in which the body names its arguments. @throws AMBIGUOUS_COLUMN for a name that could be something else there as well
 */
function argumentColumns(
  { body }: QueryReferences,
  { arguments: args }: PolicySignature,
  scans: readonly BoundScan[],
): readonly QualifiedColumn[] {
  const { columns, given } = must(body, 'a body was parsed');
  const others = new Set([...given, ...scans.flatMap(({ fields }) => fields.map(({ name }) => foldIdentifier(name)))]);
  const indexes = new Map(args.map(({ name }, i) => [foldIdentifier(name), i]));
  return columns.flatMap(({ location, parts }) => {
    const [first = ''] = parts;
    const name = foldIdentifier(first);
    const index = indexes.get(name);
    if (index === undefined) return [];
    if (!others.has(name)) return [{ location, parts: [first], alias: argumentName(index) }];
    const message = `${first} could be the argument or something else in the body: give the argument another name`;
    throw new SkeinError('AMBIGUOUS_COLUMN', message, { position: location });
  });
}

const plannerScan = ({ sqlFields, fields, rowCount }: BoundScan) => ({ columns: sqlFields, fields, rowCount });

/** @throws STATEMENT_TOO_COMPLEX for too many tables */
function mappingsOf(scans: readonly BoundScan[]): readonly MappingRequest[] {
  const mappings = new Map<string, MappingRequest>();
  for (const { name, version } of scans) {
    const table: TableName = { catalog: name.catalog, namespace: name.namespace, table: name.table };
    mappings.set(tableKey(table), { table: { ...table, namespace: [...table.namespace] }, version, columns: null });
  }
  if (mappings.size > MAPPING_TABLES_MAX) {
    throw new SkeinError('STATEMENT_TOO_COMPLEX', `a policy's body reads at most ${MAPPING_TABLES_MAX} tables`);
  }
  return [...mappings.values()];
}
