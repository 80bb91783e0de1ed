import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import { POSTGRES_RELEASE } from '#shared/sql/statement-context.ts';
import { printPath } from './search-path.ts';

/** A setting that programs which speak to Postgres send. */
type PostgresSetting = {
  readonly default: (config: Config) => string;
  /** The canonical text of a value; throws INVALID_REQUEST for one that is not valid here. */
  readonly parse: (text: string) => string;
  /** It cannot be changed. */
  readonly isSaid?: true;
};

const VALUE_LENGTH_MAX = 1_000;

const invalid = (name: string, expected: string): SkeinError =>
  new SkeinError('INVALID_REQUEST', `${name} ${expected}`);

/** One that changes nothing here: it is kept, and shown. */
export const keptSetting = (name: string, value: string): PostgresSetting => ({
  default: () => value,
  parse: (text) => {
    if (text.length > VALUE_LENGTH_MAX) throw invalid(name, `has at most ${VALUE_LENGTH_MAX} characters`);
    return text;
  },
});

/** One that would change results, and has one value here; `also` are other spellings of it. */
const fixed = (name: string, value: string, also: readonly string[] = []): PostgresSetting => ({
  default: () => value,
  parse: (text) => {
    const plain = (one: string): string => one.replaceAll(/[\s'"-]/g, '').toLowerCase();
    if ([value, ...also].some((one) => plain(one) === plain(text))) return value;
    throw invalid(name, `is ${value} here, and nothing else`);
  },
});

/** One that only says something. */
const said = (name: string, value: string): PostgresSetting => ({
  default: () => value,
  parse: () => {
    throw invalid(name, 'cannot be changed');
  },
  isSaid: true,
});

const UNITS_MS: Readonly<Record<string, number>> = { '': 1, ms: 1, s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 };
const INT32_MAX = 2 ** 31 - 1;

function parseTimeout(text: string): string {
  const [, digits = '', unit = ''] = /^(\d{1,12}) ?(ms|s|min|h|d)?$/.exec(text.trim()) ?? [];
  const ms = Number(digits) * (UNITS_MS[unit] ?? 0);
  if (digits === '' || ms > INT32_MAX) {
    throw invalid('statement_timeout', 'is a number of milliseconds, or a time such as 5s or 2min; 0 = none');
  }
  return String(ms);
}

/** The isolation levels that a transaction here is no weaker than. */
const LEVELS: ReadonlySet<string> = new Set(['read uncommitted', 'read committed', 'repeatable read', 'snapshot']);

const isolation: PostgresSetting = {
  default: () => 'repeatable read',
  parse: (text) => {
    const level = text.trim().toLowerCase();
    if (LEVELS.has(level)) return level;
    throw invalid('default_transaction_isolation', 'is at most repeatable read');
  },
};

const SWITCHES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['on', 'true', 'yes', '1'].map((word) => [word, 'on'])),
  ...Object.fromEntries(['off', 'false', 'no', '0'].map((word) => [word, 'off'])),
};

const readOnly: PostgresSetting = {
  default: () => 'off',
  parse: (text) => {
    const value = SWITCHES[text.trim().toLowerCase()];
    if (value === undefined) throw invalid('default_transaction_read_only', 'is on or off');
    return value;
  },
};

const KEPT = {
  application_name: '',
  backslash_quote: 'safe_encoding',
  check_function_bodies: 'on',
  client_min_messages: 'notice',
  default_table_access_method: 'heap',
  default_tablespace: '',
  default_toast_compression: 'pglz',
  default_transaction_deferrable: 'off',
  enable_nestloop: 'on',
  enable_seqscan: 'on',
  escape_string_warning: 'on',
  extra_float_digits: '1',
  geqo: 'on',
  idle_in_transaction_session_timeout: '0',
  jit_above_cost: '100000',
  idle_session_timeout: '0',
  jit: 'off',
  lc_messages: 'C',
  lc_monetary: 'C',
  lc_numeric: 'C',
  lc_time: 'C',
  lock_timeout: '0',
  max_parallel_workers_per_gather: '0',
  plan_cache_mode: 'auto',
  quote_all_identifiers: 'off',
  row_security: 'on',
  session_replication_role: 'origin',
  synchronize_seqscans: 'on',
  transaction_timeout: '0',
  work_mem: '4MB',
  xmloption: 'content',
} as const;

const FIXED: Readonly<Record<string, readonly [string, ...string[]]>> = {
  array_nulls: ['on', 'true', '1', 'yes'],
  bytea_output: ['hex'],
  client_encoding: ['UTF8', 'unicode'],
  datestyle: ['ISO, MDY', 'ISO'],
  intervalstyle: ['postgres'],
  standard_conforming_strings: ['on', 'true', '1', 'yes'],
};

const SAID = {
  in_hot_standby: 'off',
  integer_datetimes: 'on',
  is_superuser: 'off',
  max_identifier_length: '63',
  max_index_keys: '32',
  server_encoding: 'UTF8',
  server_version: POSTGRES_RELEASE,
  server_version_num: '180000',
  transaction_isolation: 'repeatable read',
  transaction_read_only: 'off',
} as const;

const entries = <T>(
  of: Readonly<Record<string, T>>,
  make: (name: string, value: T) => PostgresSetting,
): readonly (readonly [string, PostgresSetting])[] =>
  Object.entries(of).map(([name, value]) => [name, make(name, value)] as const);

/** Postgres' settings by their folded names. */
export const POSTGRES_SETTINGS: ReadonlyMap<string, PostgresSetting> = new Map([
  ...entries<string>(KEPT, keptSetting),
  ...entries(FIXED, (name, [value, ...also]) => fixed(name, value, also)),
  ...entries<string>(SAID, said),
  ['default_transaction_isolation', isolation],
  ['default_transaction_read_only', readOnly],
  ['search_path', { default: (config) => printPath([config['bootstrap.namespace']]), parse: (text) => text }],
  ['statement_timeout', { default: () => '0', parse: parseTimeout }],
]);
