import { DUCKDB_TEXT_BYTES_MAX, duckDbError } from '#shared/duckdb-error.ts';
import type { SkeinError } from '#shared/error.ts';
import type { Address } from './library.ts';
import { readCutText } from './memory.ts';

/** DuckDB's text of an error, as far as it is taken over; '' when there is none. */
export const errorTextAt = (text: Address | null): string => readCutText(text ?? 0n, DUCKDB_TEXT_BYTES_MAX);

/** The error whose text lies at an address. Every text of DuckDB's enters a worker here, before any pattern sees it. */
export const errorAt = (text: Address | null): SkeinError => duckDbError(errorTextAt(text));
