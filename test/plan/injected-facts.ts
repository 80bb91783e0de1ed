import { must } from '#shared/must.ts';
import type { ColumnFacts, ScanFacts } from '#coordinator/distributor/fragment.ts';
import type { ScanBinding } from '#coordinator/binding/scan-binding.ts';

/** Statistics of the two benchmarks at a scale, as manifests would have them: rows of each table, bounds of keys, numbers and dates. */

/** Rows at scale 1; a region or a date is there once. */
const TPCH_ROWS = {
  region: 5,
  nation: 25,
  supplier: 10_000,
  customer: 150_000,
  part: 200_000,
  partsupp: 800_000,
  orders: 1_500_000,
  lineitem: 6_001_215,
} as const;

/** Bounds at scale 1 by a column's name after its prefix; `scaled` ones grow with the scale. */
const TPCH_BOUNDS: Readonly<
  Record<string, { readonly lower: number; readonly upper: number; readonly scaled?: true }>
> = {
  orderkey: { lower: 1, upper: 6_000_000, scaled: true },
  partkey: { lower: 1, upper: 200_000, scaled: true },
  suppkey: { lower: 1, upper: 10_000, scaled: true },
  custkey: { lower: 1, upper: 150_000, scaled: true },
  nationkey: { lower: 0, upper: 24 },
  regionkey: { lower: 0, upper: 4 },
  linenumber: { lower: 1, upper: 7 },
  size: { lower: 1, upper: 50 },
  quantity: { lower: 1, upper: 50 },
  discount: { lower: 0, upper: 0.1 },
  tax: { lower: 0, upper: 0.08 },
  availqty: { lower: 1, upper: 9_999 },
  acctbal: { lower: -999.99, upper: 9_999.99 },
  orderdate: { lower: 8_035, upper: 10_440 },
  shipdate: { lower: 8_036, upper: 10_561 },
  commitdate: { lower: 8_065, upper: 10_530 },
  receiptdate: { lower: 8_037, upper: 10_591 },
};

/** Rows of TPC-DS's tables at scale 100 (specification, table 3-2). */
export const TPCDS_ROWS_100: Readonly<Record<string, number>> = {
  call_center: 30,
  catalog_page: 20_400,
  catalog_returns: 14_404_374,
  catalog_sales: 143_997_065,
  customer: 2_000_000,
  customer_address: 1_000_000,
  customer_demographics: 1_920_800,
  date_dim: 73_049,
  household_demographics: 7_200,
  income_band: 20,
  inventory: 399_330_000,
  item: 204_000,
  promotion: 1_000,
  reason: 55,
  ship_mode: 20,
  store: 402,
  store_returns: 28_795_080,
  store_sales: 287_997_024,
  time_dim: 86_400,
  warehouse: 15,
  web_page: 2_040,
  web_returns: 7_197_670,
  web_sales: 72_001_237,
  web_site: 24,
};

/** The end of a surrogate key's name -> the table that it is a key of. */
const TPCDS_KEYS: readonly (readonly [RegExp, string])[] = [
  [/item_sk$/, 'item'],
  [/customer_sk$/, 'customer'],
  [/cdemo_sk$|^cd_demo_sk$/, 'customer_demographics'],
  [/hdemo_sk$|^hd_demo_sk$/, 'household_demographics'],
  [/addr_sk$|address_sk$/, 'customer_address'],
  [/store_sk$/, 'store'],
  [/promo_sk$/, 'promotion'],
  [/time_sk$/, 'time_dim'],
  [/warehouse_sk$/, 'warehouse'],
  [/web_page_sk$/, 'web_page'],
  [/site_sk$/, 'web_site'],
  [/catalog_page_sk$/, 'catalog_page'],
  [/call_center_sk$/, 'call_center'],
  [/ship_mode_sk$/, 'ship_mode'],
  [/reason_sk$/, 'reason'],
  [/income_band_sk$/, 'income_band'],
];
const UNKNOWN: ColumnFacts = { distinctMax: null, nulls: null };

const discrete = (lower: number, upper: number, rows: number): ColumnFacts => ({
  distinctMax: Math.min(rows, upper - lower + 1),
  nulls: 0,
  lower,
  upper,
});

export const tpchRows = (table: string, scale: number): number => {
  const rows = must(TPCH_ROWS[table as keyof typeof TPCH_ROWS], `the table ${table}`);
  return rows <= 25 ? rows : rows * scale;
};

export function tpchFacts({ name, columns }: ScanBinding, scale: number): ScanFacts {
  const rows = tpchRows(name.table, scale);
  return {
    rows,
    bytes: rows * 100,
    files: Math.max(1, Math.ceil(rows / 5_000_000)),
    columns: columns.map(({ name: column, type }) => {
      const bounds = TPCH_BOUNDS[column.replace(/^[a-z]+_/, '')];
      if (bounds === undefined) return UNKNOWN;
      const upper = bounds.scaled === true ? bounds.upper * scale : bounds.upper;
      const isDiscrete = type === 'int' || type === 'long' || type === 'date';
      return isDiscrete
        ? discrete(bounds.lower, upper, rows)
        : { distinctMax: null, nulls: 0, lower: bounds.lower, upper };
    }),
  };
}

/** Date keys count days; the sales' are those of five years. */
const DATE_SK = { first: 2_415_022, last: 2_488_070, sold: [2_450_816, 2_452_642] } as const;

export function tpcdsFacts({ name, columns }: ScanBinding): ScanFacts {
  const rows = must(TPCDS_ROWS_100[name.table], `the table ${name.table}`);
  return {
    rows,
    bytes: rows * 100,
    files: Math.max(1, Math.ceil(rows / 5_000_000)),
    columns: columns.map(({ name: column }) => {
      if (column === 'd_date_sk') return discrete(DATE_SK.first, DATE_SK.last, rows);
      if (column === 'd_year') return discrete(1900, 2100, rows);
      if (column === 'd_moy') return discrete(1, 12, rows);
      if (column.endsWith('date_sk')) return discrete(DATE_SK.sold[0], DATE_SK.sold[1], rows);
      const table = TPCDS_KEYS.find(([pattern]) => pattern.test(column))?.[1];
      const keys = table === undefined ? undefined : TPCDS_ROWS_100[table];
      return keys === undefined ? UNKNOWN : discrete(1, keys, rows);
    }),
  };
}
