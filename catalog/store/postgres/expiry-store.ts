import { CompiledQuery } from 'kysely';
import type { TenantId } from '#shared/id.ts';
import { LEVEL_SEPARATOR } from '../../metadata/object-name.ts';
import type { TableIdent } from '../../metadata/object-name.ts';
import type { Database, Tx } from './tables.ts';

/** A table of which something has expired. */
export type ExpiringTable = {
  readonly id: string;
  readonly version: number;
  readonly tenant: TenantId;
  readonly catalog: string;
  readonly ident: TableIdent;
  readonly roots: readonly string[];
  readonly metadataBytes: number;
};

/** The update is the claim: another process finds the table again when its holder has not done with it until then. */
const CLAIM = `
  update catalog.iceberg_table t set expires_at = $2
  from catalog.namespace n, catalog.catalog c, catalog.tenant o
  where t.id = (
    select id from catalog.iceberg_table where expires_at <= $1 order by expires_at limit 1 for update skip locked
  ) and n.id = t.namespace_id and c.id = t.catalog_id and o.id = c.tenant_id
  returning t.id, t.version, o.name as tenant, c.name as catalog, n.path, t.name,
    array_prepend(c.location, c.allowed_roots) as roots, octet_length(t.metadata) as "metadataBytes"`;

/** Takes the table whose time came first; nobody else takes it before `until`. */
export async function claimExpiring(tx: Tx, now: Date, until: Date): Promise<ExpiringTable | undefined> {
  type Row = Omit<ExpiringTable, 'ident'> & { readonly path: string; readonly name: string };
  const { rows } = await tx.executeQuery<Row>(CompiledQuery.raw(CLAIM, [now, until]));
  const [row] = rows;
  if (row === undefined) return undefined;
  const { path, name, ...table } = row;
  return { ...table, ident: { namespace: path.split(LEVEL_SEPARATOR), name } };
}

/** Sets the time of the next look, unless a commit came between. */
export async function setExpiry(
  db: Database,
  { id, version }: Pick<ExpiringTable, 'id' | 'version'>,
  at: Date | null,
): Promise<void> {
  await db
    .updateTable('iceberg_table')
    .set({ expires_at: at })
    .where('id', '=', id)
    .where('version', '=', version)
    .execute();
}
