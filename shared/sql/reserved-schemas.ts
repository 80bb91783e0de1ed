import { foldIdentifier } from './fold-identifier.ts';

/** Schemas that every catalog has for SQL, whatever its namespaces are: `information_schema` and PostgreSQL's own. */
const RESERVED_SCHEMAS: ReadonlySet<string> = new Set(['information_schema', 'pg_catalog']);

/** Whether a namespace with these levels stands where such a schema does, whatever the case of its letters. */
export const isReservedSchema = ([first = '']: readonly string[]): boolean =>
  RESERVED_SCHEMAS.has(foldIdentifier(first));
