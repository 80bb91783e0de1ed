import { foldIdentifier } from './fold-identifier.ts';

/** Schemas that every catalog has for SQL, whatever its namespaces are: `information_schema` and PostgreSQL's own. */
const RESERVED_SCHEMAS: ReadonlySet<string> = new Set(['information_schema', 'pg_catalog']);

/** Whether a namespace with these levels stands where such a schema does, whatever the case of its letters. */
export const isReservedSchema = ([first = '']: readonly string[]): boolean =>
  RESERVED_SCHEMAS.has(foldIdentifier(first));

/** Postgres keeps names that begin so for its own schemas, and tools leave out what is in one. */
const POSTGRES_PREFIX = 'pg_';

/** Whether no new schema may have this name; one that has it from before is like any other, unless it is reserved. */
export const isReservedForNew = (path: readonly string[]): boolean =>
  isReservedSchema(path) || (path.length === 1 && foldIdentifier(path[0] ?? '').startsWith(POSTGRES_PREFIX));
