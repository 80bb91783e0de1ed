import type { ListRelationsRequest } from '#proto/generated/skein/catalog/v1/ListRelationsRequest.ts';
import type { RelationListInput } from '#proto/generated/skein/catalog/v1/RelationList.ts';
import type { RelationInput } from '#proto/generated/skein/catalog/v1/Relation.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import { isUuid } from '#shared/id.ts';
import { parseJson, printJson, type JsonObject } from '#shared/json.ts';
import { decide } from '../authorization/decide.ts';
import { isExempt, seesFigures } from '../authorization/policies.ts';
import { displayPath, splitPath } from '../metadata/object-name.ts';
import { freshFacts } from '../commit/fill-facts.ts';
import type { CatalogContext } from '../context.ts';
import { requireCatalog } from '../store/postgres/catalog-store.ts';
import { listRelations as listPage, type FactsVersion, type Relation } from '../store/postgres/relation-store.ts';
import type { RelationFacts } from '../metadata/relation-facts.ts';

/** Relations of one page, if the caller does not ask for fewer. */
const PAGE_RELATIONS_MAX = 1_000;
/** Bytes of the columns of one page: the main threads of both sides print and parse them. */
const PAGE_COLUMN_BYTES_MAX = 4 * 2 ** 20;

/**
 * Lists tables and views of a catalog with what is known of them, those that the principal may list; without that right there are none.
 * @throws CATALOG_NOT_FOUND (another tenant's too), INVALID_REQUEST
 */
export async function listRelationsCall(
  context: CatalogContext,
  request: ListRelationsRequest,
  principal: Principal,
): Promise<RelationListInput> {
  const { catalog, after, limit, schemas, names, ids, with_columns: withColumns } = request;
  for (const id of after === '' ? ids : [after, ...ids]) {
    if (!isUuid(id)) throw new SkeinError('INVALID_REQUEST', 'not the id of a table or view');
  }
  const { id: catalogId } = await requireCatalog(context.store.db, principal.tenant, catalog);
  const { relations, more } = await listPage(context.store.pool, {
    catalogId,
    after: after === '' ? null : after,
    limit: limit === 0 ? PAGE_RELATIONS_MAX : Math.min(limit, PAGE_RELATIONS_MAX),
    schemas: orAll(schemas),
    names: orAll(names),
    ids: orAll(ids),
    withColumns,
    columnBytesMax: PAGE_COLUMN_BYTES_MAX,
  });
  const described: RelationInput[] = [];
  for (const relation of relations) {
    if (!mayList(principal, catalog, relation)) continue;
    const one = await describe(context, relation, { principal, withColumns });
    if (one !== undefined) described.push(one);
  }
  return { relations: described, more, last: relations.at(-1)?.id ?? '' };
}

const orAll = (wanted: readonly string[]): readonly string[] | null => (wanted.length === 0 ? null : wanted);

function mayList(principal: Principal, catalog: string, { kind, namespace }: Relation): boolean {
  const schema = { kind: 'schema', catalog, namespace } as const;
  return decide(principal, kind === 'TABLE' ? 'table.list' : 'view.list', schema).allowed;
}

/** A relation with the facts of its document; undefined when it is gone. */
async function describe(
  context: CatalogContext,
  relation: Relation,
  { principal, withColumns }: { readonly principal: Principal; readonly withColumns: boolean },
): Promise<RelationInput | undefined> {
  const { id, version, namespace, name, oid, namespaceOid, kind, storage, policies, isClosed } = relation;
  const hides = isClosed ? !isExempt(principal) : policies !== null && !seesFigures(principal);
  const shown = (summary: string): string => (hides ? withoutFigures(summary) : summary);
  const table = kind === 'TABLE' ? 'iceberg_table' : 'iceberg_view';
  const facts = isStale(relation) ? await freshFacts(context, { table, ...relation }) : factsOf(relation);
  if (facts === undefined) return undefined;
  const ofStorage =
    storage === null || !isStale(storage) ? storage : await freshFacts(context, { table: 'iceberg_table', ...storage });
  return {
    id,
    version: `${id}.${version}`,
    namespace: [...namespace],
    name,
    oid,
    namespace_oid: namespaceOid,
    kind,
    summary: shown(facts.summary),
    storage_summary: ofStorage?.summary == null ? '' : shown(ofStorage.summary),
    columns: withColumns ? facts.columns : '',
    policies: (policies ?? []).map(({ path, field, ...one }) => ({
      ...one,
      schema: displayPath(splitPath(path)),
      field_id: field ?? 0,
    })),
  };
}

/** The size of a table tells of rows that policies hide. */
function withoutFigures(summary: string): string {
  const { rows: _rows, bytes: _bytes, ...rest } = parseJson(summary) as JsonObject;
  return printJson(rest);
}

const isStale = ({ version, factsVersion }: FactsVersion): boolean => version !== factsVersion;

const factsOf = ({ summary, columns }: Relation): RelationFacts => ({
  summary: summary ?? '{}',
  columns: columns ?? '',
});
