import { SkeinError } from '#shared/error.ts';
import type { Snapshot, TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { addressField, isAddressName } from '#shared/iceberg/address-columns.ts';
import type { Schema } from '#shared/iceberg/schema.ts';
import type { Field } from '#shared/iceberg/type.ts';
import { scanColumn } from '#shared/iceberg/scan-column.ts';
import { must } from '#shared/must.ts';
import { isReservedSchema } from '#shared/sql/reserved-schemas.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { SqlField } from '../plan/sql-type.ts';
import { fieldType } from '../plan/iceberg-sql-type.ts';
import type { MetadataRows } from '../binding/metadata-rows.ts';
import { namedView, viewFilters, type NamedView, type SchemaViews } from '../binding/schema-views.ts';
import { hiddenColumn } from '../binding/hidden-columns.ts';
import { namedPgRelation, type NamedPgRelation, type PgRelations } from '../binding/pg-rows.ts';
import { PLAIN_COLUMNS, type MetadataTable } from '../binding/metadata-table.ts';
import { missingTable } from '../binding/missing-table.ts';
import type { TableReference, TimeTravel } from '../binding/query-references.ts';
import type { ScanBinding } from '../binding/scan-binding.ts';
import type { RowsBinding, StagedBinding } from '../binding/statement-binding.ts';
import { knownPolicies, NO_POLICIES, type TablePolicies, requireNotClosed } from '../binding/table-policies.ts';
import type { TableRows } from '../binding/table-rows.ts';
import { suffixedName, type SuffixedName } from './table-suffix.ts';
import {
  requireTable,
  requireTableAction,
  tableKey,
  type LoadedTable,
  type LoadedView,
  type TableName,
  type TableSource,
} from '../binding/table-source.ts';
import { travelTo } from './travel-to.ts';

type FoundTable = Extract<LoadedTable, { kind: 'found' }>;

/** A name that means a view; `expandViews` replaces it. */
export type BoundView = {
  readonly kind: 'view';
  readonly oid: number;
  /** Null when they cannot be read. */
  readonly columns: readonly string[] | null;
};

/** A table with its snapshot and columns fixed; the plan says later which of them are read. */
export type BoundTable = BoundScan | BoundPoliced | StagedBinding | RowsBinding;

/** A table below policies. `table` has all of its rows, raw: it is read by the query of its policies alone. */
export type BoundPoliced = { readonly kind: 'policed'; readonly table: BoundScan; readonly policies: TablePolicies };

export type BoundScan = Omit<ScanBinding, 'predicate' | 'readFieldIds' | 'namedFieldIds'> & {
  /** As that of `LoadedTable`. */
  readonly oid: number;
  /** The fields of the schema, and the address columns behind them. */
  readonly fields: readonly Field[];
  /** The same as DuckDB sees them. */
  readonly sqlFields: readonly SqlField[];
};

/**
 * How tables with policies are read: as their reader may see them, which is the default; so, but with the addresses of rows where a text of our
 * own names them; or raw, for the statement itself, which shows nobody what it reads.
 */
export type TableReading =
  | { readonly kind: 'seen' }
  /** `isOwn`: whether our own text stands at a byte of the query. */
  | { readonly kind: 'addressed'; readonly isOwn?: (location: number) => boolean }
  | { readonly kind: 'raw' };

export const SEEN: TableReading = { kind: 'seen' };

export type TablesRequest = {
  readonly references: readonly TableReference[];
  readonly defaults: { readonly catalog: string; readonly schema: string };
  readonly source: TableSource & MetadataRows & SchemaViews & PgRelations;
  /** Columns that the query may read of a metadata table; null = all. */
  readonly named: readonly string[] | null;
  /** Rows and tables that are read in the place of a table, by the name that replaces its text; it hides tables of the same name. */
  readonly rows: ReadonlyMap<string, RowsBinding | StagedBinding | BoundScan>;
  readonly reading?: TableReading;
  /** The asker may manage policies: he sees what metadata tables tell of rows. */
  readonly seesPolicies?: boolean | undefined;
  readonly signal: AbortSignal;
};

/**
 * Resolves every table name, once per statement and all in one call. Two parts are schema and table of the current catalog, three
 * are catalog, schema and table; dots inside of a (quoted) schema separate its levels. A table whose own name has an `@` hides a branch or tag.
 * @throws TABLE_NOT_FOUND, SCHEMA_NOT_FOUND, CATALOG_NOT_FOUND, SNAPSHOT_NOT_FOUND, NOT_SUPPORTED; positions are byte offsets in the query.
 */
export async function bindTables(request: TablesRequest): Promise<readonly (BoundTable | BoundView)[]> {
  const { references, rows, reading = SEEN } = request;
  if (references.length === 0) return [];
  const known = { hasPostgresViews: request.source.hasPostgresViews, catalog: request.defaults.catalog };
  const names = references.map(
    (reference) =>
      rowsOf(reference, rows) ??
      namedView(reference.parts) ??
      namedPgRelation(reference.parts, known) ??
      namesOf(reference, request.defaults),
  );
  const asked = names.flatMap((name) =>
    'kind' in name || 'view' in name || 'pg' in name ? [] : name.base === null ? [name.whole] : [name.whole, name.base],
  );
  const unique = new Map(asked.map((name) => [tableKey(name), name] as const));
  const loaded = unique.size === 0 ? [] : await request.source.loadTables([...unique.values()], request.signal);
  const byKey = new Map([...unique.keys()].map((key, i) => [key, must(loaded[i], 'one answer for each name')]));
  const answer = (name: TableName): LoadedTable => must(byKey.get(tableKey(name)), 'one answer for each name');
  const width = { columns: 0 };
  const relations: PgRowsMemory = new Map();
  const bound: (BoundTable | BoundView)[] = [];
  for (const [i, reference] of references.entries()) {
    const name = must(names[i], 'one name for each reference');
    if ('pg' in name) {
      bound.push(await bindPgRelation(name, reference, request, relations));
      continue;
    }
    if ('kind' in name || 'view' in name) {
      bound.push('view' in name ? await bindSchemaView(name, reference, request) : name);
      continue;
    }
    const { whole, base, suffix } = name;
    const table = answer(whole);
    const ofBase = table.kind !== 'missing' || base === null ? null : answer(base);
    try {
      if (table.kind === 'view') bound.push(boundView(table));
      else if (table.kind === 'found')
        bound.push(bindTable(whole, table, { travel: reference.at, reference, width, reading }));
      else if (ofBase?.kind === 'view') requireTable(ofBase);
      else if (base !== null && ofBase?.kind === 'found' && suffix !== undefined) {
        const travel = suffixTravel(suffix, reference);
        const { metadataTable } = suffix;
        bound.push(
          metadataTable === null
            ? bindTable(base, ofBase, { travel, reference, width, reading })
            : await bindMetadataTable(ofBase, { what: metadataTable, title: whole.table, travel }, request),
        );
      } else throw await missingTable(whole, table.code, request.source);
    } catch (error) {
      throw at(error, reference.location);
    }
  }
  return bound;
}

const boundView = ({ oid, view: { schema } }: LoadedView): BoundView => ({
  kind: 'view',
  oid,
  columns: schema instanceof SkeinError ? null : schema.fields.map(({ name }) => name),
});

/** The possible meanings of a reference: the table of its whole name, or else what the suffix of the name says of the table `base`. */
type ReferenceNames = {
  readonly whole: TableName;
  readonly base: TableName | null;
  readonly suffix: SuffixedName | undefined;
};

/** @throws TABLE_NOT_FOUND, SCHEMA_NOT_FOUND, CATALOG_NOT_FOUND for a name that can mean nothing */
export function namesOf(reference: TableReference, defaults: TablesRequest['defaults']): ReferenceNames {
  const whole = tableName(reference, defaults);
  const suffix = suffixedName(whole.table, reference.location);
  return { whole, base: suffix === undefined ? null : { ...whole, table: suffix.table }, suffix };
}

function suffixTravel({ travel }: SuffixedName, { at: asked }: TableReference): TimeTravel | null {
  if (asked === null || travel === null) return asked ?? travel;
  throw new SkeinError('INVALID_REQUEST', 'a name with a branch or tag takes no AT', { position: asked.location });
}

const rowsOf = (
  { parts }: TableReference,
  rows: TablesRequest['rows'],
): RowsBinding | StagedBinding | BoundScan | undefined => (parts.length === 1 ? rows.get(parts[0] ?? '') : undefined);

const ANY_CATALOG = { hasPostgresViews: true, catalog: null };

/** Whether a reference means a view of INFORMATION_SCHEMA. */
export const isSchemaView = ({ parts }: TableReference): boolean =>
  namedView(parts) !== undefined || namedPgRelation(parts, ANY_CATALOG) !== undefined;

async function bindSchemaView(
  { view, catalog }: NamedView,
  reference: TableReference,
  { source, named, signal }: TablesRequest,
): Promise<RowsBinding> {
  const { parts, location, wanted = {}, at: travel, addresses } = reference;
  if (travel !== null)
    throw new SkeinError('NOT_SUPPORTED', 'INFORMATION_SCHEMA is read as it is now: it takes no AT', {
      position: travel.location,
    });
  const asked = {
    view,
    title: parts.join('.'),
    catalog,
    filters: viewFilters(wanted),
    named: named === null ? null : new Set(named),
    hidden: addresses.filter((name) => hiddenColumn(view, name) !== undefined),
    signal,
  };
  try {
    return { kind: 'rows', rows: await source.schemaView(asked), policies: NO_POLICIES };
  } catch (error) {
    throw at(error, location);
  }
}

/** Rows that other names of one statement mean, too: a statement may read a relation many times. */
type PgRowsMemory = Map<string, TableRows>;

async function bindPgRelation(
  relation: NamedPgRelation,
  { parts, location, wanted = {}, at: travel }: TableReference,
  { source, named, signal }: TablesRequest,
  memory: PgRowsMemory,
): Promise<RowsBinding> {
  if (travel !== null) {
    const message = 'the catalog of Postgres is read as it is now: it takes no AT';
    throw new SkeinError('NOT_SUPPORTED', message, { position: travel.location });
  }
  const filters = viewFilters(wanted);
  const key = JSON.stringify([relation, filters]);
  try {
    const known = memory.get(key);
    const names = named === null ? null : new Set(named);
    const rows = known ?? (await source.pgRows({ ...relation, title: parts.join('.'), filters, named: names, signal }));
    memory.set(key, rows);
    return { kind: 'rows', rows, policies: NO_POLICIES };
  } catch (error) {
    throw at(error, location);
  }
}

/** Columns of all tables of a statement; a table counts as often as it is named. */
const COLUMNS_MAX = 50_000;

function tableName({ parts, location }: TableReference, defaults: TablesRequest['defaults']): TableName {
  const [table = '', schema = defaults.schema, catalog = defaults.catalog] = parts.toReversed();
  const written = parts.join('.');
  // DuckDB knows these names and the catalog does not: the catalog is not asked, whatever their case.
  if (parts.length < 3 && RESERVED.test(parts.length === 1 ? table : schema)) {
    throw notFound('TABLE_NOT_FOUND', `table ${written} does not exist`, location);
  }
  if (parts.length < 3 && catalog === '') {
    throw notFound('CATALOG_NOT_FOUND', `no catalog is chosen: name ${written} as catalog.schema.table`, location);
  }
  if (schema === '')
    throw notFound('SCHEMA_NOT_FOUND', `no schema is chosen: name ${written} with its schema`, location);
  const namespace = schema.split('.');
  if (isReservedSchema(namespace)) throw notFound('TABLE_NOT_FOUND', `table ${written} does not exist`, location);
  return { catalog, namespace, table };
}

const RESERVED = /^(?:sqlite_(?:temp_)?(?:master|schema)|pg_catalog|pg_class|duckdb_\w+|pragma_\w+)$/i;

function bindTable(
  name: TableName,
  table: FoundTable,
  { travel, reference, width, reading }: BindPlace,
): BoundScan | BoundPoliced {
  const written = [name.catalog, ...name.namespace, name.table].join('.');
  requireTableAction(table, 'table.select');
  const { metadata } = table;
  const { snapshot, schema } = travelTo(metadata, travel, `table ${written}`);
  width.columns += schema.fields.length;
  if (width.columns > COLUMNS_MAX) {
    throw new SkeinError('STATEMENT_TOO_COMPLEX', `the tables of the statement have more than ${COLUMNS_MAX} columns`);
  }
  refuseCaseTwins(schema, written);
  const addresses = addressesOf(reference, schema, metadata);
  const fields = [...schema.fields, ...addresses];
  const policies = { version: table.policyVersion, policies: knownPolicies(table.policies, written) };
  const bound: BoundScan = {
    kind: 'iceberg',
    name: table.name,
    tableName: [table.name.catalog, ...table.name.namespace, table.name.table].join('.'),
    tableUuid: metadata.tableUuid,
    version: table.version,
    oid: table.oid,
    metadata,
    snapshotId: snapshot === null ? null : snapshot.snapshotId.toString(),
    schemaId: schema.schemaId,
    addresses,
    columns: fields.map(scanColumn),
    allowedRoots: table.allowedRoots,
    credential: table.credential,
    policies: { ...policies, policies: [] },
    rowCount: snapshot === null ? 0 : rowCount(snapshot),
    fields,
    sqlFields: fields.map(fieldType),
  };
  if (policies.policies.length === 0 || reading.kind === 'raw') return bound;
  const mayAddress = reading.kind === 'addressed' && (reading.isOwn?.(reference.location) ?? true);
  if (addresses.length > 0 && !mayAddress) {
    throw new SkeinError(
      'NOT_SUPPORTED',
      `policies apply to table ${written}: it shows no ${addresses[0]?.name ?? ''}`,
    );
  }
  return { kind: 'policed', table: bound, policies };
}

type BindPlace = {
  readonly travel: TimeTravel | null;
  readonly reference: TableReference;
  /** Counts the columns of the statement's tables. */
  readonly width: { columns: number };
  readonly reading: TableReading;
};

/**
 * Reads a metadata table. Who may read the table may read it; where a policy stands between the table and its reader, it shows
 * no value of a row, and those that are made of its files are refused, but to those who may manage policies. @throws NOT_SUPPORTED
 */
async function bindMetadataTable(
  table: FoundTable,
  { what, title, travel }: { readonly what: MetadataTable; readonly title: string; readonly travel: TimeTravel | null },
  { source, named, seesPolicies = false, signal }: TablesRequest,
): Promise<RowsBinding> {
  requireTableAction(table, 'table.select');
  const { metadata, allowedRoots, credential, policies, version } = table;
  requireNotClosed(policies, title);
  const withValues = policies.length === 0 || seesPolicies;
  if (!withValues && PLAIN_COLUMNS[what] === null) {
    throw new SkeinError('NOT_SUPPORTED', `policies apply to the table: ${title} would tell of rows that they hide`);
  }
  const { snapshot, schema } = travelTo(metadata, travel, `table ${title}`);
  const rows = await source.metadataRows({
    what,
    title,
    metadata,
    snapshot,
    schema,
    allowedRoots,
    credential,
    withValues,
    named: named === null ? null : new Set(named),
    signal,
  });
  return { kind: 'rows', rows, policies: NO_POLICIES, of: version };
}

/** The address columns that a reference reads and the table has. Its own columns of these names come first. */
function addressesOf({ addresses }: TableReference, schema: Schema, metadata: TableMetadata): readonly Field[] {
  if (addresses.length === 0) return [];
  const own = new Set(schema.fields.map(({ name }) => foldIdentifier(name)));
  return addresses.flatMap((name) =>
    own.has(name) || !isAddressName(name) ? [] : (addressField(name, metadata) ?? []),
  );
}

/** SQL ignores the case of identifiers, so one of two columns that differ in case only could never be named. */
function refuseCaseTwins(schema: Schema, table: string): void {
  const seen = new Map<string, string>();
  for (const { name } of schema.fields) {
    const twin = seen.get(foldIdentifier(name));
    if (twin !== undefined) {
      const message = `table ${table} cannot be read: its columns ${twin} and ${name} differ only in case`;
      throw new SkeinError('NOT_SUPPORTED', message);
    }
    seen.set(foldIdentifier(name), name);
  }
}

/** Rows by the snapshot's summary without position deletes; equality deletes are ignored, because their number of rows is unknown. */
function rowCount({ summary }: Snapshot): number | null {
  const total = Number(summary['total-records'] ?? Number.NaN);
  const deleted = Number(summary['total-position-deletes'] ?? 0);
  return Number.isFinite(total) && total >= 0 ? Math.max(0, total - (Number.isFinite(deleted) ? deleted : 0)) : null;
}

const notFound = (code: 'TABLE_NOT_FOUND' | 'SCHEMA_NOT_FOUND' | 'CATALOG_NOT_FOUND', text: string, position: number) =>
  new SkeinError(code, text, { position });

/** Adds the position of the name to an error. */
function at(thrown: unknown, position: number): SkeinError {
  const error = SkeinError.of(thrown);
  return error.at(error.position ?? position);
}
