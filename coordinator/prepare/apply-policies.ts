import { SkeinError } from '#shared/error.ts';
import type { PolicedBinding, PolicyReading } from '../binding/policed-binding.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import type { ScanBinding } from '../binding/scan-binding.ts';
import { policyError } from '../binding/policy-error.ts';
import { SEEN, type BoundPoliced, type BoundScan } from '../resolver/bind-tables.ts';
import { POLICED_TABLE, policyQuery } from '../resolver/policy-query.ts';
import type { PolicyRequest, PrepareRequest } from './prepare-request.ts';

/**
 * Plans the query of a table's policies by itself, before it is known what the statement does with its rows: neither text is optimised with the
 * other, so no constant of one is folded into the other.
 * @param seen the columns that the statement may name, or its plan reads
 * @throws POLICY_FAILED, NOT_SUPPORTED for a schema without a column that a policy needs
 */
export async function applyPolicies(
  { table, policies }: BoundPoliced,
  seen: ScanBinding,
  {
    request,
    prepare,
  }: { readonly request: PrepareRequest; readonly prepare: (of: PolicyRequest) => Promise<PreparedQuery> },
): Promise<PolicedBinding> {
  const ids = new Set(seen.namedFieldIds ?? table.fields.map(({ id }) => id));
  const read = table.fields.filter(({ id }) => ids.has(id));
  const sql = policyQuery({ tableName: table.tableName, fields: table.fields, policies }, read);
  const tables = { ...request.tables, ...request.tables.committed };
  const asked = {
    ...request,
    sql,
    offset: 0,
    values: [],
    tables,
    mayShare: false,
    reading: SEEN,
    asksReader: true as const,
  };
  const seesPolicies = request.seesPolicies === true;
  try {
    const query = await prepare({ ...asked, below: new Map([[POLICED_TABLE, table]]) });
    return { kind: 'policed', table: seen, policies, reading: { ...readingOf(query, table), seesPolicies } };
  } catch (error) {
    throw policyError(error, seesPolicies);
  }
}

function readingOf(
  { workerSql, scans, contextual, bounds }: PreparedQuery,
  { metadata }: BoundScan,
): Omit<PolicyReading, 'seesPolicies'> {
  const tables = scans.map((scan) => {
    // A mapping table has no policies.
    if (scan.kind === 'iceberg') return scan;
    throw new SkeinError('POLICY_FAILED', 'a policy looks up something else than a table without policies');
  });
  // One document is one object, and no policy looks up a table that has policies.
  const source = tables.findIndex((scan) => scan.metadata === metadata);
  return { sql: workerSql, scans: tables, source, contextual, bounds };
}
