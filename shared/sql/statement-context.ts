import { quoteLiteral } from './quote.ts';

/** Fixed once per statement by the coordinator, so that it means the same in every process. */
export type StatementContext = {
  /** now(), as microseconds since 1970 UTC, in decimal. */
  readonly nowMicros: string;
  readonly timeZone: string;
  readonly currentUser: string;
  /** Absent: `public`. */
  readonly currentRole?: string;
  /** The roles that are in the session; absent: `public` alone. */
  readonly roles?: readonly string[];
  /** The user's tenant. */
  readonly currentTenant?: string;
  readonly currentCatalog: string;
  readonly currentSchema: string;
  /** Facts of the session; absent: none. */
  readonly session?: SessionFacts;
};

/**
 * The session as Postgres' functions tell of it. `settings`: every one with its value, by its folded name. `signals`: the calls of
 * `pg_cancel_backend` and `pg_terminate_backend`, by `signalKey`, with their answers.
 */
export type SessionFacts = {
  readonly backendPid: number;
  readonly settings: Readonly<Record<string, string>>;
  readonly signals?: Readonly<Record<string, boolean>>;
};

export type Signal = 'cancel' | 'terminate';
export const signalKey = (signal: Signal, pid: number): string => `${signal} ${pid}`;

/** Its effect has come before the query runs (`coordinator/command/signal-calls.ts`). */
const signalAnswer = (signal: Signal): string =>
  `coalesce(CAST(json_extract_string(nullif(getvariable('skein_session'), ''), '/signals/${signal} ' || CAST(p AS VARCHAR)) AS BOOLEAN), false)`;

/** The release of Postgres whose protocol and settings programs see, by which drivers choose what to ask. */
export const POSTGRES_RELEASE = '18.0';
/** Clients read the number in it. */
const VERSION = quoteLiteral(`PostgreSQL ${POSTGRES_RELEASE} (Skein)`);

/**
 * The coordinator fixes "now" and "me" once per statement, so that they are the same in the planner and in every task: macros that read
 * variables shadow DuckDB's own functions. A macro is expanded when a statement is bound, so the optimiser folds it to a constant that
 * prunes scans.
 *
 * DuckDB parses `current_timestamp`, `current_time`, `localtime` and `localtimestamp` as calls of `get_current_timestamp`,
 * `get_current_time`, `current_localtime` and `current_localtimestamp`.
 */
const NOW = `make_timestamptz(getvariable('skein_now'))`;
const MACROS: Readonly<Record<string, string>> = {
  'now()': NOW,
  'transaction_timestamp()': NOW,
  'get_current_timestamp()': NOW,
  'current_date()': `CAST(${NOW} AS DATE)`,
  'today()': `CAST(${NOW} AS DATE)`,
  'get_current_time()': `CAST(${NOW} AS TIME WITH TIME ZONE)`,
  'current_localtime()': `CAST(CAST(${NOW} AS TIMESTAMP) AS TIME)`,
  'current_localtimestamp()': `CAST(${NOW} AS TIMESTAMP)`,
  'current_user()': `getvariable('skein_user')`,
  'session_user()': `getvariable('skein_user')`,
  'user()': `getvariable('skein_user')`,
  'current_role()': `getvariable('skein_role')`,
  'current_tenant()': `getvariable('skein_tenant')`,
  'is_role_in_session(r)': `list_contains(getvariable('skein_roles'), r)`,
  'current_catalog()': `getvariable('skein_catalog')`,
  'current_database()': `getvariable('skein_catalog')`,
  'current_schema()': `getvariable('skein_schema')`,
  'current_schemas(i)': `CASE WHEN i THEN ['pg_catalog', getvariable('skein_schema')] ELSE [getvariable('skein_schema')] END`,
  'version()': VERSION,
  'pg_backend_pid()': `coalesce(CAST(json_extract_string(nullif(getvariable('skein_session'), ''), '$.backendPid') AS INTEGER), 0)`,
  'pg_cancel_backend(p)': signalAnswer('cancel'),
  // Nobody holds such a lock.
  'pg_advisory_unlock_all()': "''",
  // Its effect has come before the query runs (`coordinator/command/set-config.ts`).
  'set_config(n, v, l)': 'CAST(v AS VARCHAR)',
};

/** `shared/duckdb-error.ts` makes this a SETTING_NOT_FOUND. */
export const UNKNOWN_SETTING = 'unrecognized configuration parameter ';

/** A setting of the session's facts, by a JSON pointer, whose signs may stand in a name. */
const SETTING =
  `json_extract_string(nullif(getvariable('skein_session'), ''), ` +
  `'/settings/' || replace(replace(lower(n), '~', '~0'), '/', '~1'))`;
const NO_SETTING = `CAST(system.main.error(${quoteLiteral(UNKNOWN_SETTING)} || n) AS VARCHAR)`;
const CURRENT_SETTING =
  `CREATE OR REPLACE TEMP MACRO current_setting(n) AS CASE WHEN ${SETTING} IS NULL THEN ${NO_SETTING} ELSE ${SETTING} END, ` +
  `(n, m) AS CASE WHEN ${SETTING} IS NULL AND NOT m THEN ${NO_SETTING} ELSE ${SETTING} END`;

/** `age` with one argument counts from the start of the current day. */
const AGE = `CREATE OR REPLACE TEMP MACRO age(a) AS system.main.age(CAST(${NOW} AS DATE), a), (a, b) AS system.main.age(a, b)`;

/** A time to wait for the end is taken, and nothing is waited for. */
const TERMINATE =
  `CREATE OR REPLACE TEMP MACRO pg_terminate_backend(p) AS ${signalAnswer('terminate')}, ` +
  `(p, t) AS ${signalAnswer('terminate')}`;

/** Statements that prepare a connection; run once per connection. */
export const contextSetupSql: readonly string[] = [
  ...Object.entries(MACROS).map(([name, body]) => `CREATE OR REPLACE TEMP MACRO ${name} AS ${body}`),
  AGE,
  CURRENT_SETTING,
  TERMINATE,
];

/**
 * Returns the context of a statement that does not ask for the user or the time. It is constant, because setting a context costs an
 * instance as much as a small query, and has no user, because the next statement may be another tenant's.
 */
export const blankContext = (timeZone: string): StatementContext => ({
  nowMicros: '0',
  timeZone,
  currentUser: '',
  currentCatalog: '',
  currentSchema: '',
});

/**
 * Returns the context of a statement that asks for the current catalog and schema, and for nothing else: the same for all statements of one
 * place.
 */
export const placeContext = ({ timeZone, currentCatalog, currentSchema }: StatementContext): StatementContext => ({
  ...blankContext(timeZone),
  currentCatalog,
  currentSchema,
});

/**
 * Returns the statements that set the context before each statement, on the same connection. The time zone is set first: dates and times of
 * day depend on it.
 */
export function contextVariablesSql(context: StatementContext): string[] {
  return [
    `SET TimeZone = ${quoteLiteral(context.timeZone)}`,
    // Set as a plain number, which takes a third of the time of an expression: this runs for every statement.
    `SET VARIABLE skein_now = ${BigInt(context.nowMicros)}`,
    `SET VARIABLE skein_user = ${quoteLiteral(context.currentUser)}`,
    `SET VARIABLE skein_role = ${quoteLiteral(context.currentRole ?? 'public')}`,
    `SET VARIABLE skein_roles = CAST([${(context.roles ?? ['public']).map(quoteLiteral).join(', ')}] AS VARCHAR[])`,
    `SET VARIABLE skein_tenant = ${quoteLiteral(context.currentTenant ?? '')}`,
    `SET VARIABLE skein_catalog = ${quoteLiteral(context.currentCatalog)}`,
    `SET VARIABLE skein_schema = ${quoteLiteral(context.currentSchema)}`,
    `SET VARIABLE skein_session = ${quoteLiteral(context.session === undefined ? '' : JSON.stringify(context.session))}`,
  ];
}

/**
 * Returns the context of a statement whose tables' policies ask for the reader and his roles, and for nothing else: the same for all statements
 * of one reader.
 */
export const readerContext = ({
  timeZone,
  currentUser,
  currentRole = 'public',
  roles = ['public'],
  currentTenant = '',
}: StatementContext): StatementContext => ({
  ...blankContext(timeZone),
  currentUser,
  currentRole,
  roles,
  currentTenant,
});
