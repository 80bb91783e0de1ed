import type { Pool } from 'pg';
import type { RelationFacts } from '../../metadata/relation-facts.ts';
import { LEVEL_SEPARATOR, splitPath, type NamespacePath } from '../../metadata/object-name.ts';

/** Tables and views of a catalog with their facts, for lists. */

type RelationKind = 'TABLE' | 'VIEW' | 'MATERIALIZED_VIEW';

export type Relation = FactsVersion & {
  readonly namespace: NamespacePath;
  readonly name: string;
  /** Its number for Postgres' clients. */
  readonly oid: number;
  readonly namespaceOid: number;
  readonly kind: RelationKind;
  readonly summary: string | null;
  /** Null also when columns are not asked for. */
  readonly columns: string | null;
  /** Those that are bound to a table; null = none. */
  readonly policies: readonly RelationPolicy[] | null;
  /** Its rows were made of those of tables with policies. */
  readonly isClosed: boolean;
  /** The table of a materialized view's rows, when it is there. */
  readonly storage: (FactsVersion & { readonly summary: string | null }) | null;
};

type RelationPolicy = {
  readonly kind: string;
  readonly catalog: string;
  readonly path: string;
  readonly name: string;
  readonly field: number | null;
};

/** The subquery of the condition is read once for a whole list. */
const POLICIES = `case when t.id in (select b.table_id from catalog.policy_binding b) then (
    select json_agg(json_build_object('kind', p.kind, 'catalog', k.name, 'path', s.path, 'name', p.name, 'field', b.masked_field_id)
      order by p.kind, k.name, s.path, p.name, b.masked_field_id)
    from catalog.policy_binding b
    join catalog.policy p on p.id = b.policy_id
    join catalog.namespace s on s.id = p.namespace_id
    join catalog.catalog k on k.id = s.catalog_id
    where b.table_id = t.id) end`;

const closed = (id: string): string =>
  `exists (select from catalog.table_source c where c.table_id = ${id} and c.is_policed)`;

/** Which version of a document there is, and of which version its facts are. */
export type FactsVersion = {
  readonly id: string;
  readonly version: number;
  readonly factsVersion: number | null;
  /** Size of the document. */
  readonly bytes: number;
};

export type RelationsWish = {
  readonly catalogId: string;
  /** The id of the relation before; null = from the first. */
  readonly after: string | null;
  readonly limit: number;
  /** Levels joined by dots. Null = all, here and below. */
  readonly schemas: readonly string[] | null;
  readonly names: readonly string[] | null;
  readonly ids: readonly string[] | null;
  readonly withColumns: boolean;
  /** A page ends before the first relation, but one, whose columns would make it longer than this. */
  readonly columnBytesMax: number;
};

/** The conditions of a wish, and the values of its parameters. */
function conditionsOf(wish: RelationsWish): { readonly of: (r: 't' | 'v') => string; readonly values: unknown[] } {
  const { catalogId, after, schemas, names, ids } = wish;
  const values: unknown[] = [catalogId];
  const value = (one: unknown): string => `$${values.push(one)}`;
  const conditions = [
    '@.catalog_id = $1',
    ...(after === null ? [] : [`@.id > ${value(after)}::uuid`]),
    ...(ids === null ? [] : [`@.id = any(${value(ids)}::uuid[])`]),
    // The namespaces first, because tables are found by namespace and name.
    ...(schemas === null && names === null ? [] : [`@.namespace_id = any(array(${namespacesOf(schemas, value)}))`]),
    ...(names === null ? [] : [`@.name = any(${value(names)}::text[])`]),
  ];
  return { of: (r) => conditions.join(' and ').replaceAll('@.', `${r}.`), values };
}

const namespacesOf = (schemas: RelationsWish['schemas'], value: (one: unknown) => string): string =>
  `select id from catalog.namespace where catalog_id = $1${
    schemas === null ? '' : ` and replace(path, '${LEVEL_SEPARATOR}', '.') = any(${value(schemas)}::text[])`
  }`;

/**
 * Ordered by id, which no rename changes: a relation that is there all the time is on exactly one page. `limit` is that of each kind: without
 * it few relations are found by their names, and with it many are read in the order of their ids.
 */
const listText = (
  of: (r: 't' | 'v') => string,
  [limit, withColumns, columnBytesMax]: readonly string[],
  each: boolean,
): string => `
  with page as (
    (
      select t.id, n.path, t.name, t.oid, n.oid as namespace_oid, 'TABLE' as kind, t.version, t.facts_version, t.summary, t.columns,
        octet_length(t.metadata) as bytes, null::uuid as storage_id, null::integer as storage_version, null::integer as storage_facts, null as storage_summary,
        null::integer as storage_bytes, ${POLICIES} as policies, ${closed('t.id')} as is_closed
      from catalog.iceberg_table t join catalog.namespace n on n.id = t.namespace_id
      where ${of('t')} and not exists (
        select from catalog.iceberg_view v where v.storage_namespace_id = t.namespace_id and v.storage_name = t.name
      )
      ${each ? `order by t.id limit ${limit}` : ''}
    ) union all (
      select v.id, n.path, v.name, v.oid, n.oid, case when v.storage_name is null then 'VIEW' else 'MATERIALIZED_VIEW' end, v.version,
        v.facts_version, v.summary, v.columns, octet_length(v.metadata), s.id, s.version, s.facts_version, s.summary,
        octet_length(s.metadata), null::json, ${closed('s.id')}
      from catalog.iceberg_view v join catalog.namespace n on n.id = v.namespace_id
      left join catalog.iceberg_table s on s.namespace_id = v.storage_namespace_id and s.name = v.storage_name
      where ${of('v')}
      ${each ? `order by v.id limit ${limit}` : ''}
    )
    order by id limit ${limit}
  ), measured as (
    select page.*, count(*) over () as found,
      sum(coalesce(octet_length(columns), 0)) over (order by id) - coalesce(octet_length(columns), 0) as before
    from page
  )
  select id, path, name, oid::double precision, namespace_oid::double precision as "namespaceOid", kind, version, facts_version as "factsVersion", summary, case when ${withColumns} then columns end as columns,
    bytes, storage_bytes as "storageBytes",
    storage_id as "storageId", storage_version as "storageVersion", storage_facts as "storageFacts",
    storage_summary as "storageSummary", policies, is_closed as "isClosed", found::integer
  from measured where not ${withColumns} or before <= ${columnBytesMax}
  order by id`;

type Row = Omit<Relation, 'namespace' | 'storage'> & {
  readonly path: string;
  readonly storageId: string | null;
  readonly storageVersion: number;
  readonly storageFacts: number | null;
  readonly storageSummary: string | null;
  readonly storageBytes: number;
  readonly found: number;
};

/** One page of a catalog's tables and views, all as they were at one time. */
export async function listRelations(
  pool: Pool,
  wish: RelationsWish,
): Promise<{ readonly relations: readonly Relation[]; readonly more: boolean }> {
  const { after, limit, schemas, names, ids, withColumns, columnBytesMax } = wish;
  const { of, values } = conditionsOf(wish);
  const places = [limit, withColumns, columnBytesMax].map((one, i) => {
    return `$${values.push(one)}::${i === 1 ? 'boolean' : 'integer'}`;
  });
  const isOfFew = schemas !== null || names !== null || ids !== null;
  const { rows } = await pool.query<Row>({
    // A text for each kind of wish: one for all would read the whole catalog for one relation.
    name: `list-relations ${[after, schemas, names, ids].map((one) => (one === null ? '-' : '+')).join('')}`,
    text: listText(of, places, !isOfFew),
    values,
  });
  const found = rows[0]?.found ?? 0;
  return { relations: rows.map(relationOf), more: found > rows.length || found === limit };
}

function relationOf({ path, found: _found, ...columns }: Row): Relation {
  const { storageId, storageVersion, storageFacts, storageSummary, storageBytes, ...row } = columns;
  const storage =
    storageId === null
      ? null
      : {
          id: storageId,
          version: storageVersion,
          factsVersion: storageFacts,
          summary: storageSummary,
          bytes: storageBytes,
        };
  return { ...row, namespace: splitPath(path), storage };
}

/** A table or view whose facts are not those of its document. */
export type Stale = { readonly table: 'iceberg_table' | 'iceberg_view'; readonly id: string; readonly bytes: number };

/** Finds some of them, by their ids; the next ones stand behind `after`. */
export async function listStale(pool: Pool, after: string | null, limit: number): Promise<readonly Stale[]> {
  const of = (table: Stale['table']): string => `(
    select '${table}' as table, id, octet_length(metadata) as bytes from catalog.${table}
    where facts_version is distinct from version and ($1::uuid is null or id > $1) order by id limit $2)`;
  const text = `${of('iceberg_table')} union all ${of('iceberg_view')} order by id limit $2`;
  return (await pool.query<Stale>(text, [after, limit])).rows;
}

/** The document of a table or view; undefined when it is gone. */
export async function readRelation(
  pool: Pool,
  { table, id }: Pick<Stale, 'table' | 'id'>,
): Promise<{ readonly metadata: string; readonly version: number } | undefined> {
  const text = `select metadata, version from catalog.${table} where id = $1`;
  return (await pool.query<{ metadata: string; version: number }>(text, [id])).rows[0];
}

/**
 * Keeps facts that were made of a version of a document, unless it has another by now. It goes past what waits for coordinators
 * (`SettlingDialect`): facts say nothing that the document did not say.
 */
export async function keepFacts(
  pool: Pool,
  { table, id, version }: Pick<Stale, 'table' | 'id'> & { readonly version: number },
  { summary, columns }: RelationFacts,
): Promise<void> {
  const text = `update catalog.${table} set facts_version = version, summary = $3, columns = $4 where id = $1 and version = $2`;
  await pool.query(text, [id, version, summary, columns]);
}
