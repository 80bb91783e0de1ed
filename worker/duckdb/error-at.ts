import { DUCKDB_TEXT_BYTES_MAX, duckDbError } from '#shared/duckdb-error.ts';
import type { SkeinError } from '#shared/error.ts';
import type { Address } from './library.ts';
import { readCutText } from './memory.ts';

/** Reads DuckDB's text of an error, shortened to a limit; '' when there is none. */
export const errorTextAt = (text: Address | null): string => readCutText(text ?? 0n, DUCKDB_TEXT_BYTES_MAX);

/** Builds the error from a text at an address. Every DuckDB error text enters a worker here and is shortened before any pattern sees it. */
export const errorAt = (text: Address | null): SkeinError => duckDbError(errorTextAt(text));
