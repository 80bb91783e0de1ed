import { SkeinError } from '#shared/error.ts';
import { normalizeLocation } from '#shared/storage/location.ts';
import { THROUGH_SQL } from '../authorization/decide.ts';
import { isExempt } from '../authorization/policies.ts';
import type { CatalogContext } from '../context.ts';
import { commitFailure } from '../commit/commit-tables.ts';
import { readMultiTableCommit, readMultiTableCommitApart } from '../commit/multi-table-commit.ts';
import { namespaceOf } from '../metadata/check-name.ts';
import { asObject, optionalString } from '../metadata/json-reader.ts';
import type { TableIdent } from '../metadata/object-name.ts';
import {
  hasDroppedPolicies,
  hasPolicies,
  hasPoliciesById,
  isInPolicyFolder,
} from '../store/postgres/policy-binding-store.ts';
import type { RestRequest } from './rest-operation.ts';

/**
 * Operations by which a client of the REST API gets at files of a table, at its metadata, which holds values and counts of its rows, or
 * changes either. Nobody can filter what he reads there, so that tables with policies are closed to all but those who are exempt. Statements
 * of the coordinator, which applies policies, do not come by here.
 */

/** Asked with the request before its operation begins. @throws FORBIDDEN */
export type FilesGate = (context: CatalogContext, request: RestRequest) => Promise<void>;

const closed = (): SkeinError => new SkeinError('FORBIDDEN', THROUGH_SQL);

/** The table that the path names. */
export const ofNamedTable: FilesGate = async (context, request) => {
  const name = request.params['table'] ?? '';
  await requireOpen(context, request, [{ namespace: namespaceOf(request.params['namespace'] ?? ''), name }]);
};

/** The table of a commit: while Postgres is away it is a conflict, as the commit itself is, because nothing was changed. */
export const ofCommittedTable: FilesGate = (context, request) =>
  ofNamedTable(context, request).catch((thrown: unknown) => {
    throw commitFailure(thrown);
  });

/** The same, and tables that were dropped under this name. */
export const ofDroppedTable: FilesGate = async (context, request) => {
  const { claims, params } = request;
  if (isExempt(claims)) return;
  await ofNamedTable(context, request);
  const ident = { namespace: namespaceOf(params['namespace'] ?? ''), name: params['table'] ?? '' };
  const named = { catalog: params['prefix'] ?? '', ...ident };
  if (await hasDroppedPolicies(context.store.db, claims.tenant, named)) throw closed();
};

/** The table that a registration would take the place of, and the one in whose folder its metadata lies. */
export const ofRegistration: FilesGate = async (context, request) => {
  if (isExempt(request.claims)) return;
  const body = asObject(request.body, 'register table request');
  const name = optionalString(body, 'name') ?? '';
  await requireOpen(context, request, [{ namespace: namespaceOf(request.params['namespace'] ?? ''), name }]);
  await requireOutside(context, request, optionalString(body, 'metadata-location') ?? '');
};

/** The tables of a transaction, as of a commit. */
export const ofTransaction: FilesGate = (context, request) =>
  ofTransactedTables(context, request).catch((thrown: unknown) => {
    throw commitFailure(thrown);
  });

const ofTransactedTables: FilesGate = async (context, request) => {
  const { claims, body, large, params } = request;
  if (isExempt(claims)) return;
  const { catalog, changes } =
    large === undefined
      ? readMultiTableCommit(body)
      : await readMultiTableCommitApart(context.readers, large, claims.tenant);
  for (const change of changes) {
    const { uuid, ident } = change;
    const named = params['prefix'] ?? change.catalog ?? catalog;
    // Without a catalog tables are found by their UUIDs, or in the tenant's default one.
    const isClosed =
      named !== undefined
        ? await hasPolicies(context.store.db, claims.tenant, { catalog: named, ...ident })
        : await hasPoliciesById(context.store.db, claims.tenant, { uuid: uuid ?? null, ident });
    if (isClosed) throw closed();
  }
};

async function requireOpen(
  { store }: CatalogContext,
  { claims, params }: RestRequest,
  idents: readonly TableIdent[],
): Promise<void> {
  if (isExempt(claims)) return;
  for (const ident of idents) {
    if (await hasPolicies(store.db, claims.tenant, { catalog: params['prefix'] ?? '', ...ident })) throw closed();
  }
}

/** @throws FORBIDDEN for a file in a folder of a table with policies */
async function requireOutside({ store }: CatalogContext, { claims }: RestRequest, file: string): Promise<void> {
  const folders = foldersAbove(file);
  if (await isInPolicyFolder(store.db, claims.tenant, folders)) throw closed();
}

/** The folders that a file lies in; none for a text that is no location, which the operation refuses. */
function foldersAbove(file: string): readonly string[] {
  let normal: string;
  try {
    normal = normalizeLocation(file);
  } catch {
    return [];
  }
  const found: string[] = [];
  for (let end = normal.lastIndexOf('/'); end > 0; end = normal.lastIndexOf('/', end - 1))
    found.push(normal.slice(0, end));
  return found;
}
