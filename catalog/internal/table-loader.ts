import type { LoadedTableInput } from '#proto/generated/skein/catalog/v1/LoadedTable.ts';
import type { LoadTablesRequest } from '#proto/generated/skein/catalog/v1/LoadTablesRequest.ts';
import type { TableName } from '#proto/generated/skein/catalog/v1/TableName.ts';
import { toKeyMessage } from '#shared/task/bucket-key.ts';
import { actionsOn, type Action } from '#shared/authorization/action.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { rootsMessage } from '#shared/storage/denied-roots.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { allowedActions, requireAction } from '../authorization/decide.ts';
import { policiesFor } from '../authorization/policies.ts';
import type { Securable } from '../authorization/securable.ts';
import { LARGE_DOCUMENT_BYTES } from '../metadata/large-documents.ts';
import type { CatalogContext } from '../context.ts';
import { CLOSED_MAX, readableRoots } from '../policy/readable-roots.ts';
import { forEverybody } from '../store/postgres/on-behalf-of.ts';
import { closedFolders } from '../store/postgres/folder-claims.ts';
import { policiesOf, toPolicyMessage, type PolicyFact } from '../store/postgres/policy-facts.ts';
import { LEVEL_SEPARATOR, splitPath } from '../metadata/object-name.ts';
import { tablesAtMoment } from './table-at-moment.ts';

type FoundRow = {
  readonly catalog: string | null;
  readonly roots: readonly string[] | null;
  readonly path: string | null;
  readonly name: string | null;
  readonly metadata_location: string | null;
  readonly id: string | null;
  readonly oid: number | null;
  readonly version: string | null;
  /** Null when the caller knows it, or when it is large. */
  readonly metadata: string | null;
  /** Size of a document that the caller does not know. */
  readonly bytes: number | null;
  readonly is_view: boolean;
  /** The folders of a table whose files lie in a bucket. */
  readonly folders: readonly string[] | null;
  /** The policies that are bound to the table; null = none. */
  readonly policies: readonly PolicyFact[] | null;
  readonly table_id: string | null;
  /** Folders of other tables with policies (`listClosed`). */
  readonly closed: readonly string[] | null;
};

/**
 * Resolves every name in one round trip. At each level the exact name wins, else the first name that differs only in case; a view is looked
 * for where there is no table. Every query runs this statement: it is prepared once per connection, and it does not return metadata that
 * the caller already has.
 */
export const RESOLVE = `
  select c.name as catalog, c.roots, n.path, u.id is not null as is_view,
    coalesce(t.name, u.name) as name, coalesce(t.metadata_location, u.metadata_location) as metadata_location,
    coalesce(t.id, u.id) as id, coalesce(t.oid, u.oid)::double precision as oid, coalesce(t.version, u.version) as version, t.bytes,
    case when t.id is not null and c.location not like 'file:%'
      then array(select f.location from catalog.folder_claim f where f.owner_id = t.id) end as folders,
    case when t.id is not null then ${policiesOf('t.id')} end as policies,
    t.id as table_id, case when t.id is not null then ${closedFolders('t.id', 'c.tenant_id', CLOSED_MAX)} end as closed,
    case when t.id is null then u.metadata when t.bytes <= ${LARGE_DOCUMENT_BYTES} then t.metadata end as metadata
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
    with ordinality as w(tenant, catalog, catalog_folded, path, path_folded, name, name_folded, known, i)
  left join lateral (
    select k.id, k.tenant_id, k.name, k.location, array_prepend(k.location, k.allowed_roots) as roots from catalog.catalog k join catalog.tenant o on o.id = k.tenant_id
    where o.name = w.tenant and k.name_folded = w.catalog_folded
    order by k.name <> w.catalog, k.name limit 1
  ) c on true
  left join lateral (
    select s.id, s.path from catalog.namespace s
    where s.catalog_id = c.id and s.path_folded = w.path_folded
    order by s.path <> w.path, s.path limit 1
  ) n on true
  left join lateral (
    select b.name, b.metadata_location, b.id, b.oid, v.version, b.metadata,
      case when v.version = w.known then null else octet_length(b.metadata) end as bytes
    from catalog.iceberg_table b cross join lateral (select b.id || '.' || b.version as version) v
    where b.namespace_id = n.id and b.name_folded = w.name_folded
    order by b.name <> w.name, b.name limit 1
  ) t on true
  left join lateral (
    select b.name, b.metadata_location, b.id, b.oid, v.version, case when v.version = w.known then null else b.metadata end as metadata
    from catalog.iceberg_view b cross join lateral (select 'v' || b.id || '.' || b.version as version) v
    where t.id is null and b.namespace_id = n.id and b.name_folded = w.name_folded
    order by b.name <> w.name, b.name limit 1
  ) u on true
  order by w.i`;

/** Reads a large document, and the version that it has by now. */
const READ_LARGE = `
  select metadata_location, id || '.' || version as version, metadata from catalog.iceberg_table where id = $1`;

/** Maximum number of concurrent statements of the loader; calls that arrive meanwhile share the next one. */
const STATEMENTS_MAX = 2;
/** Maximum number of names of one statement, unless a single call has more. */
const BATCH_NAMES_MAX = 500;
/** Maximum number of waiting calls. */
const WAITING_MAX = 10_000;

const TABLE_ACTIONS = actionsOn('table');

type Waiting = {
  readonly names: LoadTablesRequest['names'];
  readonly tenant: string;
  readonly resolve: (rows: readonly FoundRow[]) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Resolves the names of statements. Under load many calls share one statement, which costs hardly more than a single call's. The statement
 * always begins after the call arrived, so no caller reads a state older than its call.
 */
export class TableLoader {
  readonly #context: CatalogContext;
  #waiting: Waiting[] = [];
  #running = 0;

  constructor(context: CatalogContext) {
    this.#context = context;
  }

  /**
   * Returns the tables in the order of the names. A table's files may lie anywhere below its catalog's roots: a catalog belongs to one
   * tenant, and clients may add files from other folders, or move a table; but not in folders of other tables with policies.
   * @throws QUEUE_FULL, FORBIDDEN when the principal may not know one of them, and for another moment than now as `tablesAtMoment`
   */
  async load({ names, moment }: LoadTablesRequest, principal: Principal): Promise<{ tables: LoadedTableInput[] }> {
    if (names.length === 0) return { tables: [] };
    if (this.#waiting.length >= WAITING_MAX)
      throw new SkeinError('QUEUE_FULL', 'too many statements wait for the catalog');
    const rows = await new Promise<readonly FoundRow[]>((resolve, reject) => {
      this.#waiting.push({ names, tenant: principal.tenant, resolve, reject });
      this.#pump();
    });
    const objects = rows.map((row, i) => objectOf(row, must(names[i], 'a row for each name')));
    for (const object of objects) requireAction(principal, 'table.describe', object);
    const bytes = rows.reduce((sum, row) => sum + (isLarge(row) ? row.bytes : 0), 0);
    const { tenant } = principal;
    return this.#context.documents.run(tenant, bytes, async () => {
      const tables: LoadedTableInput[] = [];
      for (const [i, row] of rows.entries()) {
        const actions = allowedActions(principal, must(objects[i], 'an object for each row'), TABLE_ACTIONS);
        const whole = isLarge(row) ? await this.#readLarge(row) : row;
        const loaded = toLoadedTable(whole, principal, actions);
        tables.push({ ...loaded, ...(await this.#rootsOf(row, principal)), ...(await this.#keyOf(row, tenant)) });
      }
      return { tables: moment === '' ? tables : await tablesAtMoment(this.#context, tables, { moment, tenant }) };
    });
  }

  /** The right to read the files of a table in a bucket. */
  async #keyOf({ folders }: FoundRow, tenant: string): Promise<Pick<LoadedTableInput, 'key'>> {
    if (folders === null || folders.length === 0) return {};
    const { storages } = this.#context;
    return { key: toKeyMessage(await storages.vend({ folders, permission: 'read', tenant })) };
  }

  /** The roots of a table for a reader whom policies of other tables concern. */
  async #rootsOf(
    { roots, table_id: id, closed }: FoundRow,
    principal: Principal,
  ): Promise<Pick<LoadedTableInput, 'allowed_roots' | 'denied_roots'>> {
    if (roots === null || id === null || closed === null || closed.length === 0) return {};
    return rootsMessage(await readableRoots(this.#context.store.db, id, { roots, closed }, principal));
  }

  /** The row with its document, or one of an absent table when it was dropped meanwhile. */
  async #readLarge(row: FoundRow): Promise<FoundRow> {
    const { rows } = await this.#context.store.pool.query<Pick<FoundRow, 'metadata_location' | 'version' | 'metadata'>>(
      {
        name: 'load-large-table',
        text: READ_LARGE,
        values: [row.id],
      },
    );
    return { ...row, ...(rows[0] ?? { name: null }) };
  }

  #pump(): void {
    while (this.#running < STATEMENTS_MAX && this.#waiting.length > 0) {
      this.#running += 1;
      void forEverybody(() => this.#runBatch(this.#nextBatch())).finally(() => {
        this.#running -= 1;
        this.#pump();
      });
    }
  }

  #nextBatch(): readonly Waiting[] {
    let names = 0;
    const end = this.#waiting.findIndex((call, i) => {
      names += call.names.length;
      return i > 0 && names > BATCH_NAMES_MAX;
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }

  async #runBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      const rows = await this.#query(batch);
      let start = 0;
      for (const { names, resolve } of batch) {
        resolve(rows.slice(start, start + names.length));
        start += names.length;
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  async #query(batch: readonly Waiting[]): Promise<readonly FoundRow[]> {
    const names = batch.flatMap((call) => call.names.map(storable));
    const paths = names.map(({ namespace }) => namespace.join(LEVEL_SEPARATOR));
    const { rows } = await this.#context.store.pool.query<FoundRow>({
      name: 'load-tables',
      text: RESOLVE,
      values: [
        batch.flatMap((call) => call.names.map(() => call.tenant)),
        names.map(({ catalog }) => catalog),
        names.map(({ catalog }) => foldIdentifier(catalog)),
        paths,
        paths.map(foldIdentifier),
        names.map(({ table }) => table),
        names.map(({ table }) => foldIdentifier(table)),
        names.map((name) => name.known_version),
      ],
    });
    return rows;
  }
}

const isLarge = (row: FoundRow): row is FoundRow & { readonly bytes: number } =>
  row.bytes !== null && row.bytes > LARGE_DOCUMENT_BYTES;

/**
 * Replaces a name that cannot be stored by one that matches nothing: Postgres would refuse the whole statement and thereby fail other
 * calls.
 */
const storable = (name: TableName): TableName => {
  const texts = [name.catalog, name.table, name.known_version, ...name.namespace];
  const isStorable = texts.every((text) => !text.includes('\0') && !text.includes(LEVEL_SEPARATOR));
  return isStorable
    ? name
    : { ...name, catalog: name.catalog.replaceAll('\0', ''), namespace: [], table: '', known_version: '' };
};

/** The object that a name stands for, by its stored names as far as there are any. */
const objectOf = (row: FoundRow, asked: TableName): Securable => ({
  kind: row.is_view ? 'view' : 'table',
  catalog: row.catalog ?? asked.catalog,
  namespace: row.path === null ? asked.namespace : splitPath(row.path),
  name: row.name ?? asked.table,
});

function toLoadedTable(row: FoundRow, principal: Principal, actions: readonly Action[]): LoadedTableInput {
  const { roots, path, name, metadata_location, oid, version, metadata, policies } = row;
  if (roots === null) return { status: 'CATALOG_NOT_FOUND' };
  if (path === null) return { status: 'SCHEMA_NOT_FOUND' };
  if (name === null || metadata_location === null) return { status: 'TABLE_NOT_FOUND' };
  return {
    status: row.is_view ? 'VIEW' : 'FOUND',
    metadata_location,
    version: version ?? '',
    oid: oid ?? 0,
    metadata_json: metadata ?? '',
    allowed_roots: roots,
    namespace: path.split(LEVEL_SEPARATOR),
    table: name,
    actions,
    ...policiesFor(principal, (policies ?? []).map(toPolicyMessage)),
  };
}
