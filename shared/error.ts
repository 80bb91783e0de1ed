// long file: the error catalogue is one table
import { cutText } from '#shared/cut-text.ts';

/**
 * The error catalogue: every error that a client can see, in one table. The HTTP API answers `{error, message, sql_state}` from it,
 * gRPC its status, and `docs/errors.md` is printed from it. Across threads and processes an error travels as `ErrorData`.
 */
type Kind = 'user' | 'auth' | 'resource' | 'external' | 'internal';
type Entry = {
  readonly kind: Kind;
  readonly sqlState: string;
  readonly http: number;
  /** gRPC status number. */
  readonly grpc: number;
  /** Whether the same request, sent again unchanged, may succeed. */
  readonly retryable: boolean;
  readonly meaning: string;
};

const entry = (
  kind: Kind,
  sqlState: string,
  http: number,
  grpc: number,
  meaning: string,
  retryable = false,
): Entry => ({
  kind,
  sqlState,
  http,
  grpc,
  retryable,
  meaning,
});

export const ERRORS = {
  SYNTAX_ERROR: entry('user', '42601', 400, 3, 'The statement does not parse.'),
  NAME_TOO_LONG: entry('user', '42622', 400, 3, 'An identifier is longer than the limit.'),
  INVALID_REQUEST: entry('user', '22023', 400, 3, 'The request body, a header, a parameter or a setting is not valid.'),
  TABLE_NOT_FOUND: entry('user', '42P01', 400, 5, 'No such table, or one that you may not see.'),
  COLUMN_NOT_FOUND: entry('user', '42703', 400, 3, 'No such column.'),
  COLUMN_EXISTS: entry('user', '42701', 400, 6, 'The table has a column of this name already.'),
  COLUMN_IN_USE: entry(
    'user',
    '2BP01',
    409,
    9,
    'The table is partitioned or sorted by the column, or the column is part of its key.',
  ),
  NOT_NULL_VIOLATION: entry('user', '23502', 400, 3, 'A column that is NOT NULL would have no value.'),
  AMBIGUOUS_COLUMN: entry('user', '42702', 400, 3, 'The column name matches several columns.'),
  FUNCTION_NOT_FOUND: entry('user', '42883', 400, 3, 'No such function, or none for these argument types.'),
  TYPE_NOT_FOUND: entry('user', '42704', 400, 3, 'No such type.'),
  SCHEMA_NOT_FOUND: entry('user', '3F000', 400, 5, 'No such schema (namespace).'),
  CATALOG_NOT_FOUND: entry('user', '3D000', 400, 5, 'No such catalog.'),
  SNAPSHOT_NOT_FOUND: entry(
    'user',
    '42704',
    400,
    5,
    'No such snapshot, branch or tag of the table, or it has expired.',
  ),
  VIEW_NOT_FOUND: entry('user', '42P01', 400, 5, 'No such view, or one that you may not see.'),
  WRONG_OBJECT_TYPE: entry(
    'user',
    '42809',
    400,
    9,
    'The statement is for a table, and this is a view; or the other way round.',
  ),
  PLAN_NOT_FOUND: entry('user', '02000', 404, 5, 'No such scan plan, or it has expired.'),
  PLAN_TASK_NOT_FOUND: entry('user', '02000', 404, 5, 'No such task of a scan plan, or it has expired.'),
  NOT_POPULATED: entry('user', '55000', 400, 9, 'The materialized view has no rows yet: REFRESH it first.'),
  INVALID_VIEW: entry('user', '42P17', 400, 3, 'The parts of a view do not fit together.'),
  TABLE_EXISTS: entry('user', '42P07', 400, 6, 'A table, view or materialized view of this name exists already.'),
  SCHEMA_EXISTS: entry('user', '42P06', 400, 6, 'The schema (namespace) exists already.'),
  RESERVED_NAME: entry(
    'user',
    '42939',
    400,
    3,
    'The name is that of a schema of the system, information_schema or pg_catalog, or begins with pg_, whatever the case.',
  ),
  SCHEMA_NOT_EMPTY: entry('user', '2BP01', 409, 9, 'The schema (namespace) still holds tables or schemas.'),
  NAME_IN_USE: entry('user', '2BP01', 409, 9, 'Views or functions name the schema or the catalog in their text.'),
  CATALOG_NOT_EMPTY: entry(
    'user',
    '2BP01',
    409,
    9,
    'The catalog still holds namespaces, dropped tables, or folders that tables with policies have left.',
  ),
  TENANT_NOT_EMPTY: entry('user', '2BP01', 409, 9, 'The tenant still has catalogs.'),
  PROTECTED: entry('user', '55000', 403, 9, 'The table or namespace is protected from being dropped.'),
  KEY_REUSED: entry('user', '22023', 422, 3, 'The idempotency key was used before, for another request.'),
  CONFLICTING_PROPERTIES: entry('user', '22023', 422, 3, 'A property is both to be set and to be removed.'),
  TENANT_NOT_FOUND: entry('user', '3D000', 400, 5, 'No such tenant.'),
  PRINCIPAL_NOT_FOUND: entry('user', '42704', 400, 5, 'No such user or service account.'),
  ROLE_NOT_FOUND: entry('user', '42704', 400, 5, 'No such role.'),
  TOKEN_NOT_FOUND: entry('user', '42704', 400, 5, 'No such personal access token.'),
  WEBHOOK_NOT_FOUND: entry('user', '42704', 400, 5, 'No such webhook.'),
  PROVIDER_NOT_FOUND: entry('user', '42704', 400, 5, 'No such identity provider.'),
  KEYPAIR_NOT_FOUND: entry('user', '42704', 400, 5, 'The service account has no active key of this id.'),
  HOLDS_GRANTS: entry('user', '2BP01', 409, 9, 'The user has roles, and DROP USER says not CASCADE.'),
  ROLE_IN_USE: entry('user', '2BP01', 409, 9, 'The role is granted to somebody.'),
  INVALID_STATE: entry('user', '55000', 400, 9, 'The user, role or webhook is in no state for this.'),
  PASSWORD_POLICY: entry('user', '22023', 400, 3, 'The password does not meet the policy of the organisation.'),
  InvalidInvitation: entry('user', '22023', 400, 3, 'The invitation is unknown, used or over.'),
  LegalHoldActive: entry('user', '55000', 400, 9, 'The user is under legal hold.'),
  LIMIT_REACHED: entry(
    'resource',
    '54000',
    400,
    8,
    'The organisation or the principal has as many of these as it may.',
  ),
  ALREADY_EXISTS: entry('user', '42710', 400, 6, 'An object of this name exists already.'),
  STAGE_NOT_FOUND: entry('user', '42704', 400, 5, 'No such stage.'),
  POLICY_NOT_FOUND: entry('user', '42704', 400, 5, 'No such row-access or masking policy.'),
  POLICY_IN_USE: entry('user', '2BP01', 409, 9, 'Tables or policies depend on the policy, the table or the column.'),
  STAGE_FILE_NOT_FOUND: entry('user', '58P01', 404, 5, 'No such file in the stage.'),
  UPLOAD_NOT_FOUND: entry(
    'user',
    '02000',
    404,
    5,
    'No such upload in parts: it was completed, aborted, or has expired.',
  ),
  URL_NOT_VALID: entry('auth', '28000', 403, 7, 'The signed URL has expired, was changed, or is for another request.'),
  JOB_NOT_FOUND: entry('user', '02000', 404, 5, 'No such background job is parked.'),
  QUERY_NOT_FOUND: entry('user', '02000', 404, 5, 'No such query, or it has ended.'),
  NOT_FOUND: entry('user', '02000', 404, 5, 'No such path.'),
  TYPE_MISMATCH: entry('user', '42804', 400, 3, 'A value has another type than the place where it stands.'),
  UNDEFINED_PARAMETER: entry('user', '42P02', 400, 3, 'The statement has a parameter without a value.'),
  WRONG_PARAMETER_COUNT: entry('user', '07001', 400, 3, 'The statement was given a value for no parameter of it.'),
  PREPARED_STATEMENT_NOT_FOUND: entry('user', '26000', 400, 5, 'The session has no prepared statement of this name.'),
  PREPARED_STATEMENT_EXISTS: entry(
    'user',
    '42P05',
    400,
    6,
    'The session has a prepared statement of this name already.',
  ),
  INVALID_CAST: entry('user', '22P02', 400, 3, 'A value cannot be converted.'),
  NUMERIC_OVERFLOW: entry('user', '22003', 400, 11, 'A number does not fit its type.'),
  DIVISION_BY_ZERO: entry('user', '22012', 400, 3, 'Division by zero.'),
  CARDINALITY_VIOLATION: entry(
    'user',
    '21000',
    400,
    3,
    'A scalar subquery returned more than one row, or a row is to be changed twice.',
  ),
  INVALID_ARGUMENT: entry('user', '22023', 400, 3, 'A function argument is not valid.'),
  POLICY_FAILED: entry(
    'user',
    '22000',
    400,
    9,
    'A row-access or masking policy of a table raised an error; those who may manage policies see which.',
  ),
  NOT_SUPPORTED: entry('user', '0A000', 400, 12, 'The statement or function is not served.'),
  COLUMNS_CHANGED: entry(
    'user',
    '0A000',
    409,
    10,
    'A table was altered while the statement waited: the columns of its result would be others than were told.',
    true,
  ),
  ENGINE_FAULT: entry('internal', '0A000', 400, 12, 'DuckDB ends the statement with an internal error of its own.'),
  INVALID_INPUT_FILE: entry('user', '58030', 400, 3, 'An input file is missing, corrupt or of another schema.'),
  INVALID_CONFIGURATION: entry('user', 'F0000', 400, 9, 'The configuration is not valid.'),
  TRANSACTION_FAILED: entry('user', '25P02', 400, 9, 'A statement of the transaction failed: it takes ROLLBACK only.'),
  TRANSACTION_TIMEOUT: entry('resource', '25P04', 408, 4, 'The transaction was open for longer than it may be.'),
  TRANSACTION_TOO_LARGE: entry(
    'resource',
    '53400',
    413,
    8,
    'The statements of the transaction wrote more than it may.',
  ),
  NO_TRANSACTION: entry('user', '25P01', 400, 9, 'The session is in no transaction.'),
  SETTING_NOT_FOUND: entry('user', '42704', 400, 5, 'No such setting.'),
  SAVEPOINT_NOT_FOUND: entry('user', '3B001', 400, 5, 'The transaction has no savepoint of this name.'),
  CURSOR_NOT_FOUND: entry('user', '34000', 400, 5, 'The session has no cursor of this name.'),
  CURSOR_EXISTS: entry('user', '42P03', 400, 6, 'The session has a cursor of this name already.'),
  CURSOR_FORWARD_ONLY: entry('user', '55000', 400, 9, 'The cursor was declared with NO SCROLL, and only goes forward.'),
  IN_TRANSACTION: entry('user', '25001', 400, 9, 'The statement cannot run inside a transaction.'),
  READ_ONLY_TRANSACTION: entry('user', '25006', 400, 9, 'The transaction only reads.'),
  TRANSACTION_BUSY: entry('user', '25000', 409, 9, 'Another statement of the transaction is running.'),
  COMMIT_CONFLICT: entry('user', '40001', 409, 10, 'Another commit came first.', true),
  FILE_ALREADY_LOADED: entry(
    'user',
    '40001',
    409,
    10,
    'Other statements have loaded files of the stage into the table meanwhile.',
    true,
  ),
  UNAUTHENTICATED: entry('auth', '28000', 401, 16, 'No valid token.'),
  WRONG_PASSWORD: entry('auth', '28P01', 401, 16, 'There is no such user, or the password is wrong.'),
  FACTOR_REQUIRED: entry(
    'auth',
    '28000',
    401,
    16,
    'The password is right, but the account signs in with a second factor: a token is used in its place.',
  ),
  TOO_MANY_SIGN_INS: entry(
    'auth',
    '28000',
    429,
    8,
    'Too many sign-ins of the user or its address have failed, or too many wait: try again a minute later.',
    true,
  ),
  FORBIDDEN: entry('auth', '42501', 403, 7, 'The principal may not do this, or its token lacks the scope.'),
  QUERY_TIMEOUT: entry(
    'resource',
    '57014',
    408,
    4,
    'The query was not answered within its timeout, which counts from the arrival of its request.',
  ),
  QUERY_CANCELLED: entry('resource', '57014', 499, 1, 'The query was cancelled.'),
  PAYLOAD_TOO_LARGE: entry('resource', '54000', 413, 8, 'The request body or statement is longer than the limit.'),
  RESULT_TOO_LARGE: entry('resource', '53400', 413, 8, 'The result is larger than the limit.'),
  TOO_MANY_PREPARED_STATEMENTS: entry(
    'resource',
    '53400',
    400,
    8,
    'The session, or all sessions of the user, hold as many prepared statements as they may.',
  ),
  TOO_MANY_CURSORS: entry('resource', '53400', 400, 8, 'The session has as many cursors as it may.'),
  STATEMENT_TOO_COMPLEX: entry(
    'resource',
    '54001',
    400,
    8,
    'The statement is nested too deeply or takes too long to plan.',
  ),
  STEP_TOO_LONG: entry('resource', '53400', 400, 8, 'One step of the query, which nothing can divide, takes too long.'),
  QUERY_KILLED: entry(
    'resource',
    '57014',
    400,
    8,
    'The query did not stop when it had to, and a worker’s process was ended because of it; it is not tried again.',
  ),
  STATEMENT_QUARANTINED: entry(
    'resource',
    '53400',
    403,
    7,
    'Statements of this shape are refused for a while, because one of them did not stop when it had to.',
  ),
  PRINCIPAL_LIMITED: entry(
    'resource',
    '53400',
    429,
    8,
    'Too many of the principal’s queries did not stop when they had to: none is taken for a while.',
  ),
  QUEUE_FULL: entry('resource', '53300', 429, 8, 'Too many queries are waiting.', true),
  OUT_OF_MEMORY: entry('resource', '53200', 507, 8, 'The query needs more memory than its limit, and cannot spill.'),
  MEMORY_KILLED: entry(
    'resource',
    '53200',
    507,
    8,
    'A worker had too little memory, and the query was cancelled to make room.',
  ),
  MEMORY_EXHAUSTED: entry('resource', '53200', 507, 8, 'The worker process has no more memory for the query.'),
  SPILL_LIMIT: entry('resource', '53100', 507, 8, 'The query needs more disk than its spill limit.'),
  NOT_ACTIVE: entry('external', '57P03', 503, 14, 'This coordinator is a standby; another one is active.', true),
  NO_WORKERS: entry('external', '57P03', 503, 14, 'No worker is available.', true),
  WORKER_DRAINING: entry(
    'external',
    '57P03',
    503,
    14,
    'The worker ends and takes no new tasks; only between services, which ask another worker.',
    true,
  ),
  WORKER_LOST: entry('external', '58000', 503, 14, 'A worker was lost while it ran the query.', true),
  CONNECTION_LOST: entry(
    'external',
    '58000',
    503,
    14,
    'The connection to a worker broke again and again while the worker ran the query; the worker lives.',
    true,
  ),
  INPUT_LOST: entry(
    'external',
    '58000',
    503,
    14,
    'What a task reads is gone; only between services, with the task that gave it in `lostTask`.',
    true,
  ),
  FRAGMENT_REFUSED: entry(
    'internal',
    'XX000',
    500,
    13,
    'A worker’s DuckDB does not bind the text of a fragment; only between services: the query runs whole.',
  ),
  CATALOG_UNAVAILABLE: entry('external', '58000', 503, 14, 'The catalog does not answer.', true),
  COMMIT_NOT_APPLIED: entry(
    'external',
    '58000',
    409,
    14,
    'A commit changed nothing, because a store that it needs does not answer.',
    true,
  ),
  COMMIT_STATE_UNKNOWN: entry(
    'external',
    '40003',
    500,
    14,
    'The connection to the metadata store broke during a commit: it may have happened or not.',
  ),
  STORAGE_ERROR: entry('external', '58030', 503, 14, 'A data or metadata file cannot be read or written.', true),
  SECRET_UNREADABLE: entry(
    'internal',
    'F0000',
    500,
    13,
    'A stored secret cannot be decrypted: no key of `cluster.secrets_key_file` opens it.',
  ),
  STORAGE_FULL: entry('resource', '53100', 507, 8, 'A file cannot be written: there is no space for it.'),
  INVALID_TABLE_DATA: entry(
    'external',
    'XX001',
    500,
    15,
    'A table’s files are corrupt or outside of its allowed locations.',
  ),
  TABLE_DATA_TOO_COMPLEX: entry(
    'resource',
    '54000',
    400,
    8,
    'A table’s metadata, or one of its files, is larger or takes more work to read than the limits allow.',
  ),
  TABLE_METADATA_MISSING: entry(
    'external',
    '58P01',
    404,
    5,
    'The metadata file of a table is missing from its storage.',
  ),
  PORT_IN_USE: entry('external', '58000', 500, 14, 'A port is in use.'),
  DATA_DIR_IN_USE: entry('external', '55006', 500, 14, 'The data directory is in use by another cluster.'),
  NEWER_DATA: entry('external', '55000', 500, 9, 'The data directory or the database was written by a newer release.'),
  START_FAILED: entry('external', '58000', 500, 14, 'A service did not start.'),
  NO_CLUSTER: entry('external', '08001', 503, 14, 'No running cluster was found.'),
  INTERNAL_ERROR: entry('internal', 'XX000', 500, 13, 'A fault of ours; the log has it under the query id.'),
} as const satisfies Record<string, Entry>;

export type ErrorCode = keyof typeof ERRORS;

/** An error as plain data, to cross threads, processes and the wire. */
export type ErrorData = {
  readonly code: ErrorCode;
  readonly message: string;
  /** A 0-based character offset in the statement. */
  readonly position?: number;
  /** For INPUT_LOST: the task whose output is lost. */
  readonly lostTask?: string;
  /** Bytes that the task had scanned which failed so. */
  readonly bytesScanned?: number;
};

type ErrorOptions = {
  readonly position?: number | undefined;
  readonly lostTask?: string | undefined;
  readonly bytesScanned?: number | undefined;
  readonly cause?: unknown;
};

/** Maximum length of an error's message in bytes of UTF-8: DuckDB's text (`DUCKDB_TEXT_BYTES_MAX`) plus our additions. */
export const ERROR_MESSAGE_BYTES_MAX = 5 * 1024;

/**
 * The error class of Skein. `message` is for people and never contains a secret; a message beyond the limit is cut. `cause` only goes to
 * the log.
 */
export class SkeinError extends Error {
  readonly code: ErrorCode;
  readonly position: number | undefined;
  readonly lostTask: string | undefined;
  readonly bytesScanned: number | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(
      cutText(message, ERROR_MESSAGE_BYTES_MAX),
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.name = 'SkeinError';
    this.code = code;
    this.position = options.position;
    this.lostTask = options.lostTask;
    this.bytesScanned = options.bytesScanned;
  }

  get entry(): Entry {
    return ERRORS[this.code];
  }

  toData(): ErrorData {
    return {
      code: this.code,
      message: this.message,
      ...(this.position === undefined ? {} : { position: this.position }),
      ...(this.lostTask === undefined ? {} : { lostTask: this.lostTask }),
      ...(this.bytesScanned === undefined ? {} : { bytesScanned: this.bytesScanned }),
    };
  }

  /**
   * The same error at another place of the statement's text, perhaps in other words: its cause, and what is known of its query, stay.
   * @param position offset in UTF-16 units; undefined = it has no place any more
   */
  at(position: number | undefined, message = this.message): SkeinError {
    const { code, lostTask, bytesScanned, cause } = this;
    return new SkeinError(code, message, { position, lostTask, bytesScanned, cause });
  }

  static fromData(data: ErrorData): SkeinError {
    const { code, message, position, lostTask, bytesScanned } = data;
    return new SkeinError(code, message, { position, lostTask, bytesScanned });
  }

  /** Converts any thrown value to an error of the catalogue. A foreign value becomes INTERNAL_ERROR and is kept only as the cause. */
  static of(thrown: unknown): SkeinError {
    if (thrown instanceof SkeinError) return thrown;
    return new SkeinError('INTERNAL_ERROR', 'internal error', { cause: thrown });
  }
}

/** The body of every error of the query HTTP API (service specification, Errors 1). */
export function errorBody(error: SkeinError): { error: ErrorCode; message: string; sql_state: string } {
  return { error: error.code, message: error.message, sql_state: error.entry.sqlState };
}
