import { SkeinError } from '#shared/error.ts';

/** SQLSTATE of a thrown Postgres error; undefined when it is none. */
const sqlStateOf = (error: unknown): string | undefined => {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
};

export const isUniqueViolation = (error: unknown): boolean => sqlStateOf(error) === '23505';
export const isForeignKeyViolation = (error: unknown): boolean => sqlStateOf(error) === '23503';

/** What has the name that a table or view was to get, when it is of the other kind (migration `0002_views`). */
export function nameTakenBy(error: unknown): 'table' | 'view' | undefined {
  const constraint = isUniqueViolation(error) ? (error as { constraint?: unknown }).constraint : undefined;
  if (constraint === 'name_taken_by_table') return 'table';
  return constraint === 'name_taken_by_view' ? 'view' : undefined;
}

/** Whether Postgres answered a COMMIT by saying that it rolled back: a constraint (class 23) or a conflict (class 40). */
export const isRolledBack = (error: unknown): boolean => /^(23|40(?!003))/.test(sqlStateOf(error) ?? '');

const CONNECTION_ERRORS = /^(08|53|57P0|57014|40001|40P01|25P03|25006)/;
/** A NUL, or half of a surrogate pair in a property. */
const UNSTORABLE_TEXT = /^(22021|22P05|22P02)$/;
const SOCKET_ERRORS = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'ENOENT']);
const POOL_MESSAGES = /timeout exceeded when trying to connect|Connection terminated|Client was closed|not queryable/i;

/** Any thrown value as an error of the catalogue: a Postgres that is away or overloaded is CATALOG_UNAVAILABLE. */
export function toCatalogError(thrown: unknown): SkeinError {
  if (thrown instanceof SkeinError) return thrown;
  const { code, syscall, message } = (thrown ?? {}) as { code?: string; syscall?: string; message?: string };
  const away =
    CONNECTION_ERRORS.test(sqlStateOf(thrown) ?? '') ||
    (syscall === 'connect' || syscall === 'read' || syscall === 'write' ? SOCKET_ERRORS.has(code ?? '') : false) ||
    POOL_MESSAGES.test(message ?? '');
  if (UNSTORABLE_TEXT.test(sqlStateOf(thrown) ?? '')) {
    return new SkeinError('INVALID_REQUEST', 'a name or property holds a character that cannot be stored', {
      cause: thrown,
    });
  }
  if (away)
    return new SkeinError('CATALOG_UNAVAILABLE', "the catalog's metadata store does not answer", { cause: thrown });
  return SkeinError.of(thrown);
}
