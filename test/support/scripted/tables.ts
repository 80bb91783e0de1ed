import { SkeinError } from '#shared/error.ts';
import { principalId, tenantId } from '#shared/id.ts';
import { readTableMetadata } from '#shared/iceberg/table-metadata.ts';
import { must } from '#shared/must.ts';
import type { JsonObject } from '#shared/json.ts';
import { nearestName } from '#shared/nearest-name.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { onePage } from '#coordinator/catalog-client/pages.ts';
import type { ScanBinding } from '#coordinator/binding/scan-binding.ts';
import type { TableBinding } from '#coordinator/binding/table-binding.ts';
import { NO_POLICIES } from '#coordinator/binding/table-policies.ts';
import { metadataRows } from '#coordinator/binding/metadata-rows.ts';
import { encodeRows } from '#coordinator/binding/encode-rows.ts';
import { textColumns } from '#coordinator/binding/made-columns.ts';
import type {
  LoadedTable,
  QueryTables,
  TableLoader,
  TableName,
  TableSource,
} from '#coordinator/binding/table-source.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';

/**
 * Tables for tests, without files: `lake.tpch.orders` -> its columns as `name type, name type`, types in Iceberg's spelling or `struct(f
 * int)`.
 */
export type TableScript = Readonly<Record<string, ScriptedTable>>;
type ScriptedTable = {
  readonly columns: string;
  readonly rows?: number;
  /** Columns that the table had when its snapshots were kept; absent = all. */
  readonly columnsBefore?: number;
};

/** The user who asks for them, unless it matters. */
export const SCRIPTED_ASKER = { tenant: tenantId('default'), principal: principalId('p') };

/** The rows of every statement that is read like a table. */
const SCRIPTED_ROWS = [
  ['orders', 'what was ordered'],
  ['ünï 🦆', null],
] as const;

/** A statement that makes no rows for itself. */
const NOTHING_MADE: QueryTables['kept'] = { keep: () => undefined, take: () => undefined };

/** Tables where no statement is read like a table. */
export const tablesAlone = (tables: TableSource): QueryTables => ({
  ...tables,
  committed: tables,
  kept: NOTHING_MADE,
  rows: ({ text }) => Promise.reject(new SkeinError('NOT_SUPPORTED', `${text} is not served in FROM`)),
  metadataRows: ({ what }) => Promise.reject(new SkeinError('NOT_SUPPORTED', `${what} is not scripted`)),
  hasPostgresViews: false,
  schemaView: ({ title }) => Promise.reject(new SkeinError('NOT_SUPPORTED', `${title} is not scripted`)),
  pgRows: ({ title }) => Promise.reject(new SkeinError('NOT_SUPPORTED', `${title} is not scripted`)),
});

/** The tables of a query that reads no rows. */
export const icebergScans = (scans: readonly TableBinding[]): readonly ScanBinding[] =>
  scans.map((scan) => icebergScan({ scans: [scan] }));

/** The Iceberg table that a query reads at this place. */
export function icebergScan({ scans }: { readonly scans: readonly TableBinding[] }, place = 0): ScanBinding {
  const scan = must(scans[place], 'a table of the query');
  if (scan.kind !== 'iceberg') throw new Error('the query reads no Iceberg table at this place');
  return scan;
}

const noFiles = (): never => {
  throw new Error('a scripted table has no files');
};
const NO_FILES = {
  files: noFiles,
  columns: noFiles,
  numbers: noFiles,
  inspect: noFiles,
  sums: noFiles,
  changes: noFiles,
  unreachable: noFiles,
  list: noFiles,
  rewrite: noFiles,
  remove: noFiles,
  orphans: noFiles,
  newDeletes: noFiles,
  find: noFiles,
};

const SNAPSHOTS = [11n, 12n] as const;

/**
 * A source that knows these tables, names without case. Each has two snapshots: 11 of 2024-01-01, and 12 of 2024-02-01, a tag `v1` and a
 * branch `old` at the first.
 */
export function scriptedTables(script: TableScript): QueryTables & { readonly asked: TableName[][] } {
  const tables = new Map(
    Object.entries(script).map(([name, table]) => [foldIdentifier(name), scriptedTable(name, table)]),
  );
  const asked: TableName[][] = [];
  const loader: TableLoader = {
    loadTables: (names) => {
      asked.push([...names]);
      return Promise.resolve(
        names.map(({ catalog, namespace, table }): LoadedTable => {
          const found = tables.get(foldIdentifier([catalog, ...namespace, table].join('.')));
          return found ?? { kind: 'missing', code: catalog === 'lake' ? 'TABLE_NOT_FOUND' : 'CATALOG_NOT_FOUND' };
        }),
      );
    },
  };
  return {
    asked,
    kept: NOTHING_MADE,
    ...loader,
    committed: loader,
    rows: async ({ text }) => {
      const rows = await encodeRows(
        { title: text, columns: textColumns(['name', 'about']) },
        onePage(SCRIPTED_ROWS),
        () => undefined,
      );
      return { kind: 'rows', rows, policies: NO_POLICIES };
    },
    metadataRows: (request) => metadataRows(NO_FILES, SCRIPTED_ASKER.tenant, 2 ** 20).metadataRows(request),
    hasPostgresViews: false,
    schemaView: ({ title }) => Promise.reject(new SkeinError('NOT_SUPPORTED', `${title} is not scripted`)),
    pgRows: ({ title }) => Promise.reject(new SkeinError('NOT_SUPPORTED', `${title} is not scripted`)),
    nearest: ({ table }) => {
      const names = [...tables.keys()].map((name) => name.split('.').at(-1) ?? '');
      return Promise.resolve(nearestName(table, names));
    },
  };
}

function scriptedTable(name: string, { columns, rows = 1_000, columnsBefore }: ScriptedTable): LoadedTable {
  const [catalog = '', ...rest] = name.split('.');
  const fields = columns.split(/,\s*(?![^()]*\))/).map((column, i): JsonObject => {
    const [, columnName = '', type = ''] = /^\s*(\S+)\s+(.+?)\s*$/.exec(column) ?? [];
    return { id: i + 1, name: columnName, required: false, type: scriptedType(type) };
  });
  const snapshots = SNAPSHOTS.map((id, i): JsonObject => ({
    'snapshot-id': id,
    'timestamp-ms': Date.UTC(2024, i, 1),
    'manifest-list': `file:///none/${id}.avro`,
    summary: { 'total-records': String(rows) },
    'schema-id': columnsBefore === undefined ? 0 : 1,
  }));
  const metadata = readTableMetadata({
    'format-version': 2,
    'table-uuid': '00000000-0000-4000-8000-000000000001',
    location: `file:///warehouse/${rest.join('/')}`,
    'current-schema-id': 0,
    schemas: [
      { type: 'struct', 'schema-id': 0, fields },
      { type: 'struct', 'schema-id': 1, fields: fields.slice(0, columnsBefore) },
    ],
    'partition-specs': [{ 'spec-id': 0, fields: [] }],
    'current-snapshot-id': 12n,
    snapshots,
    refs: {
      main: { 'snapshot-id': 12n, type: 'branch' },
      v1: { 'snapshot-id': 11n, type: 'tag' },
      old: { 'snapshot-id': 11n, type: 'branch' },
    },
    'snapshot-log': snapshots.map((s) => ({
      'timestamp-ms': s['timestamp-ms'] ?? 0,
      'snapshot-id': s['snapshot-id'] ?? 0,
    })),
  });
  return {
    kind: 'found',
    name: { catalog, namespace: rest.slice(0, -1), table: rest.at(-1) ?? '' },
    version: `${rest.join('/')}.1`,
    oid: 16_384,
    metadata,
    allowedRoots: [`file:///warehouse/${rest.join('/')}`],
    actions: new Set(['table.select', 'table.describe']),
    policies: [],
    policyVersion: '0',
    credential: FILE_CREDENTIAL,
  };
}

/** A primitive type, or `struct(f int)`. */
function scriptedType(text: string): JsonObject | string {
  const [, name, type] = /^struct\((\w+) (\w+)\)$/.exec(text) ?? [];
  if (name === undefined || type === undefined) return text;
  return { type: 'struct', fields: [{ id: 100, name, required: false, type }] };
}

/** The eight tables of TPC-H, with the row counts of scale 1. */
export const TPCH_TABLES: TableScript = {
  'lake.tpch.region': { columns: 'r_regionkey int, r_name string, r_comment string', rows: 5 },
  'lake.tpch.nation': { columns: 'n_nationkey int, n_name string, n_regionkey int, n_comment string', rows: 25 },
  'lake.tpch.supplier': {
    columns:
      's_suppkey long, s_name string, s_address string, s_nationkey int, s_phone string, s_acctbal decimal(15,2), s_comment string',
    rows: 10_000,
  },
  'lake.tpch.customer': {
    columns:
      'c_custkey long, c_name string, c_address string, c_nationkey int, c_phone string, c_acctbal decimal(15,2), c_mktsegment string, c_comment string',
    rows: 150_000,
  },
  'lake.tpch.part': {
    columns:
      'p_partkey long, p_name string, p_mfgr string, p_brand string, p_type string, p_size int, p_container string, p_retailprice decimal(15,2), p_comment string',
    rows: 200_000,
  },
  'lake.tpch.partsupp': {
    columns: 'ps_partkey long, ps_suppkey long, ps_availqty int, ps_supplycost decimal(15,2), ps_comment string',
    rows: 800_000,
  },
  'lake.tpch.orders': {
    columns:
      'o_orderkey long, o_custkey long, o_orderstatus string, o_totalprice decimal(15,2), o_orderdate date, o_orderpriority string, o_clerk string, o_shippriority int, o_comment string',
    rows: 1_500_000,
  },
  'lake.tpch.lineitem': {
    columns:
      'l_orderkey long, l_partkey long, l_suppkey long, l_linenumber int, l_quantity decimal(15,2), l_extendedprice decimal(15,2), l_discount decimal(15,2), l_tax decimal(15,2), l_returnflag string, l_linestatus string, l_shipdate date, l_commitdate date, l_receiptdate date, l_shipinstruct string, l_shipmode string, l_comment string',
    rows: 6_001_215,
  },
};
