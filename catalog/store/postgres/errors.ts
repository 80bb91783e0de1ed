import { SkeinError } from '#shared/error.ts';

/** SQLSTATE of a thrown Postgres error; undefined when it is none. */
const sqlStateOf = (error: unknown): string | undefined => {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
};

export const isUniqueViolation = (error: unknown): boolean => sqlStateOf(error) === '23505';
export const isForeignKeyViolation = (error: unknown): boolean => sqlStateOf(error) === '23503';

/** Returns which kind holds a name already, when a table collides with a view or a view with a table (migration `0002_views`). */
export function nameTakenBy(error: unknown): 'table' | 'view' | 'storage' | undefined {
  const constraint = isUniqueViolation(error) ? (error as { constraint?: unknown }).constraint : undefined;
  if (constraint === 'name_taken_by_table') return 'table';
  if (constraint === 'iceberg_view_storage') return 'storage';
  return constraint === 'name_taken_by_view' ? 'view' : undefined;
}

/** Whether Postgres reported a rollback in answer to COMMIT: a constraint (class 23) or a conflict (class 40). */
export const isRolledBack = (error: unknown): boolean => /^(23|40(?!003))/.test(sqlStateOf(error) ?? '');

const CONNECTION_ERRORS = /^(08|53|57P0|57014|40001|40P01|25P03|25006)/;
/** SQLSTATEs of text that Postgres cannot store: it contains a NUL or a lone surrogate. */
const UNSTORABLE_TEXT = /^(22021|22P05|22P02)$/;
/** SQLSTATEs of values that no column takes: longer than an index allows, or a number or time beyond its type. */
const UNSTORABLE_VALUE = /^(22001|22003|22008|54000)$/;
/** SQLSTATEs of a request that another one has outrun, which has made the same thing, or removed what this one belongs to. */
const OUTRUN = /^(23503|23505)$/;
const SOCKET_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
]);
const POOL_MESSAGES = /timeout exceeded when trying to connect|Connection terminated|Client was closed|not queryable/i;

/**
 * Maps any thrown value to an error of the catalogue: an unreachable or overloaded Postgres is CATALOG_UNAVAILABLE. A constraint that whoever wrote
 * the row does not map himself is one that another request has broken in the same moment: the same request again gets its own answer.
 */
export function toCatalogError(thrown: unknown): SkeinError {
  if (thrown instanceof SkeinError) return thrown;
  const { code, syscall, message } = (thrown ?? {}) as { code?: string; syscall?: string; message?: string };
  const away =
    CONNECTION_ERRORS.test(sqlStateOf(thrown) ?? '') ||
    (syscall === 'connect' || syscall === 'read' || syscall === 'write' ? SOCKET_ERRORS.has(code ?? '') : false) ||
    POOL_MESSAGES.test(message ?? '');
  if (UNSTORABLE_VALUE.test(sqlStateOf(thrown) ?? '')) {
    return new SkeinError('INVALID_REQUEST', 'a name or a value is longer or larger than what can be stored', {
      cause: thrown,
    });
  }
  if (OUTRUN.test(sqlStateOf(thrown) ?? '')) {
    return new SkeinError(
      'COMMIT_CONFLICT',
      'another request came first, and has made the same or removed what this one needs: try again',
      { cause: thrown },
    );
  }
  if (UNSTORABLE_TEXT.test(sqlStateOf(thrown) ?? '')) {
    return new SkeinError('INVALID_REQUEST', 'a name or property holds a character that cannot be stored', {
      cause: thrown,
    });
  }
  if (away)
    return new SkeinError('CATALOG_UNAVAILABLE', "the catalog's metadata store does not answer", { cause: thrown });
  return SkeinError.of(thrown);
}
