import type { StatementContext } from '#shared/sql/statement-context.ts';
import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { BODY_BYTES_MAX, MAPPING_TABLES_MAX, type MappingRequest } from '#shared/policy/policy-request.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { schemaName } from '../catalog-client/catalog-browser.ts';
import { tableKey, type TableName } from '../binding/table-source.ts';
import { printSqlType } from '../plan/sql-type.ts';
import type { PolicyBody, PolicySignature } from '../operation/policy-body.ts';
import type { PrepareRequest } from '../prepare/prepare-request.ts';
import { bindTables, type BoundScan } from '../resolver/bind-tables.ts';
import { plannerSql, renamedSql, spliceTables } from '../resolver/splice-tables.ts';
import type { Proven } from '../statement/proven.ts';
import { SplicedText } from '../statement/spliced-text.ts';
import { prepareDerivedText } from './prepare-derived-text.ts';
import type { StatementParts } from './statement-parts.ts';

type Checked = { readonly signature: PolicySignature; readonly context: StatementContext };

/**
 * Binds a body over its arguments and its mapping tables. @throws SkeinError of the catalogue, with its place in the statement
 *
 *     SELECT (region IN (SELECT r FROM m)) FROM (SELECT CAST(NULL AS VARCHAR) AS "region") AS "arguments"
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
  const text = new SplicedText(body).insert(HEAD).splice(body).insert(tailOf(signature));
  const work = (request: PrepareRequest): Promise<PolicyBody> => bindBody(request, signature);
  return prepareDerivedText(parts, body, text, { context, values: [], work });
}

const HEAD = 'SELECT (';

const tailOf = ({ arguments: args }: PolicySignature): string => {
  const columns = args.map(({ name, type }) => `CAST(NULL AS ${type}) AS ${quoteIdentifier(name)}`);
  return `) AS "value" FROM (SELECT ${columns.join(', ')}) AS "arguments"`;
};

async function bindBody(request: PrepareRequest, signature: PolicySignature): Promise<PolicyBody> {
  const { sql, context, asker, planner, tables: source, signal } = request;
  const defaults = { catalog: context.currentCatalog, schema: context.currentSchema };
  const references = await planner.parse({ sql, defaults, context }, asker, signal);
  const bound = await bindTables({
    references: references.tables,
    defaults,
    source,
    named: references.named,
    rows: new Map(),
    signal,
  });
  const scans = bound.map((table, i) => {
    const { at, location, parts } = must(references.tables[i], 'a reference for each table');
    const isPlain = table.kind === 'iceberg' && at === null && parts.at(-1) === table.name.table;
    if (isPlain) return table;
    throw new SkeinError('NOT_SUPPORTED', 'the body of a policy reads tables as they are, and nothing else', {
      position: location,
    });
  });
  const spliced = spliceTables(sql, references);
  const asked = { sql: plannerSql(spliced), scans: scans.map(plannerScan), context, contextual: references.contextual };
  const { columns } = await planner.describe(asked, asker, signal);
  const found = columns?.[0];
  if (found === undefined || printSqlType(found.type) !== signature.returns) {
    const type = found === undefined ? 'no type' : printSqlType(found.type);
    throw new SkeinError('TYPE_MISMATCH', `the body gives ${type}, and the policy returns ${signature.returns}`, {
      position: 0,
    });
  }
  const names = scans.map(({ name }) =>
    [name.catalog, schemaName(name.namespace), name.table].map(quoteIdentifier).join('.'),
  );
  const whole = renamedSql(spliced, names);
  return {
    body: whole.slice(HEAD.length, whole.length - tailOf(signature).length).trim(),
    mappings: mappingsOf(scans),
  };
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
