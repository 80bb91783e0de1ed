import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** The 22 statements of the TPC-H specification (revision 3.0.1, section 2.4) with their validation parameters, in order. */
export const TPCH_QUERIES: readonly { readonly name: string; readonly sql: string }[] = globSync(
  join(import.meta.dirname, 'queries/q*.sql'),
)
  .sort()
  .map((file) => ({ name: basename(file, '.sql'), sql: readFileSync(file, 'utf8') }));
