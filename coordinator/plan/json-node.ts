import type { Json } from '#shared/json.ts';

/** A text of DuckDB's JSON; empty when there is none. */
export const textOf = (json: Json | undefined): string => (typeof json === 'string' ? json : '');
