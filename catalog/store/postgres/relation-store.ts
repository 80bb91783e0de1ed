import type { Pool } from 'pg';
import type { RelationFacts } from '../../metadata/relation-facts.ts';
import { LEVEL_SEPARATOR, splitPath, type NamespacePath } from '../../metadata/object-name.ts';

/** Tables and views of a catalog with their facts, for lists. */

type RelationKind = 'TABLE' | 'VIEW' | 'MATERIALIZED_VIEW';

export type Relation = FactsVersion & {
  readonly namespace: NamespacePath;
  readonly name: string;
  readonly kind: RelationKind;
  readonly summary: string | null;
  /** Null also when columns are not asked for. */
  readonly columns: string | null;
  /** The table of a materialized view's rows, when it is there. */
  readonly storage: (FactsVersion & { readonly summary: string | null }) | null;
};

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

const WANTED = `($4::text[] is null or replace(n.path, '${LEVEL_SEPARATOR}', '.') = any($4))`;
const named = (r: string): string =>
  `r.catalog_id = $1 and ($2::uuid is null or r.id > $2) and ${WANTED}
    and ($5::text[] is null or r.name = any($5)) and ($6::uuid[] is null or r.id = any($6))`.replaceAll('r.', `${r}.`);

/** Ordered by id, which no rename changes: a relation that is there all the time is on exactly one page. */
const LIST = `
  with page as (
    (
      select t.id, n.path, t.name, 'TABLE' as kind, t.version, t.facts_version, t.summary, t.columns,
        octet_length(t.metadata) as bytes, null::uuid as storage_id, null::integer as storage_version, null::integer as storage_facts, null as storage_summary,
        null::integer as storage_bytes
      from catalog.iceberg_table t join catalog.namespace n on n.id = t.namespace_id
      where ${named('t')} and not exists (
        select from catalog.iceberg_view v where v.storage_namespace_id = t.namespace_id and v.storage_name = t.name
      )
      order by t.id limit $3
    ) union all (
      select v.id, n.path, v.name, case when v.storage_name is null then 'VIEW' else 'MATERIALIZED_VIEW' end, v.version,
        v.facts_version, v.summary, v.columns, octet_length(v.metadata), s.id, s.version, s.facts_version, s.summary,
        octet_length(s.metadata)
      from catalog.iceberg_view v join catalog.namespace n on n.id = v.namespace_id
      left join catalog.iceberg_table s on s.namespace_id = v.storage_namespace_id and s.name = v.storage_name
      where ${named('v')}
      order by v.id limit $3
    )
    order by id limit $3
  ), measured as (
    select page.*, count(*) over () as found,
      sum(coalesce(octet_length(columns), 0)) over (order by id) - coalesce(octet_length(columns), 0) as before
    from page
  )
  select id, path, name, kind, version, facts_version as "factsVersion", summary, case when $7 then columns end as columns,
    bytes, storage_bytes as "storageBytes",
    storage_id as "storageId", storage_version as "storageVersion", storage_facts as "storageFacts",
    storage_summary as "storageSummary", found::integer
  from measured where not $7 or before <= $8
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
  const { catalogId, after, limit, schemas, names, ids, withColumns, columnBytesMax } = wish;
  const { rows } = await pool.query<Row>({
    name: 'list-relations',
    text: LIST,
    values: [catalogId, after, limit, schemas, names, ids, withColumns, columnBytesMax],
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
