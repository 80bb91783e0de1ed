import type { Policy } from '#proto/generated/skein/catalog/v1/Policy.ts';
import { CompiledQuery } from 'kysely';
import { splitPath } from '../../metadata/object-name.ts';
import { CLOSED } from '#shared/authorization/table-policy.ts';
import type { Database } from './tables.ts';

/** A row of `POLICIES_OF`. */
export type PolicyFact = {
  /** `closed`: what is bound concerns tables that the rows were made of (`table-source-store.ts`). */
  readonly kind: 'row_access' | 'masking' | 'closed';
  readonly id: string;
  readonly version: string;
  readonly name: string;
  readonly body: string;
  readonly arguments: readonly { readonly name: string; readonly type: string }[];
  readonly fields: readonly number[];
  readonly mappings: readonly { readonly catalog: string; readonly path: string; readonly name: string }[] | null;
};

/** SQL for whether a table has policies, or its rows were made of one that has. */
export const isPoliced = (tableId: string): string => `(
  exists (select from catalog.policy_binding b where b.table_id = ${tableId})
  or exists (select from catalog.table_source s where s.table_id = ${tableId} and s.is_policed))`;

/** The policies that are bound to the table of an id, always in the same order: SQL for a column of JSON, null for a table without policies. */
export const policiesOf = (tableId: string): string => `(
  select json_agg(fact order by kind, id, field) from (
  select p.kind, p.id, b.masked_field_id as field, json_build_object(
    'kind', p.kind, 'id', p.id, 'version', p.version::text, 'body', p.body, 'arguments', p.arguments, 'fields', b.field_ids,
    'name', k.name || '.' || replace(s.path, e'\\u001F', '.') || '.' || p.name,
    'mappings', (
      select json_agg(json_build_object('catalog', m.catalog_name, 'path', m.path, 'name', m.name) order by m.table_id)
      from catalog.policy_mapping m where m.policy_id = p.id
    )
  ) as fact
  from catalog.policy_binding b
  join catalog.policy p on p.id = b.policy_id
  join catalog.namespace s on s.id = p.namespace_id
  join catalog.catalog k on k.id = s.catalog_id
  where b.table_id = ${tableId}
  union all
  select '${CLOSED}', null, null, json_build_object('kind', '${CLOSED}', 'id', '', 'version', '0', 'name', '', 'body', '',
    'arguments', '[]'::json, 'fields', '[]'::json, 'mappings', null)
  where exists (select from catalog.table_source s where s.table_id = ${tableId} and s.is_policed)
  ) facts
)`;

/** Reads what is bound to the table of an id. */
export async function findPolicyFacts(db: Database, tableId: string): Promise<readonly PolicyFact[]> {
  const { rows } = await db.executeQuery<{ readonly policies: readonly PolicyFact[] | null }>(
    CompiledQuery.raw(`select ${policiesOf('$1::uuid')} as policies`, [tableId]),
  );
  return rows[0]?.policies ?? [];
}

export const toPolicyMessage = ({ mappings, arguments: args, fields, ...fact }: PolicyFact): Policy => ({
  kind: fact.kind,
  name: fact.name,
  id: fact.id,
  version: fact.version,
  body: fact.body,
  field_id: fact.kind === 'masking' ? (fields[0] ?? 0) : 0,
  arguments: args.map(({ name, type }, i) => ({ name, type, field_id: fields[i] ?? 0 })),
  mapping_tables: (mappings ?? []).map(({ catalog, path, name }) => ({
    catalog,
    namespace: [...splitPath(path)],
    table: name,
    known_version: '',
  })),
});
