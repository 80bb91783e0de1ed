import type { Json } from '#shared/json.ts';

/** Runs the statements of a `.slt` file. Values are in the JSON forms of the query API, whichever engine made them. */
export interface Engine {
  readonly name: 'duckdb' | 'skein';
  run(sql: string): Promise<EngineAnswer>;
  /** Puts a file into a stage. Absent where there are none. */
  putFile?(stage: string, path: string, text: string): Promise<void>;
}

export type EngineAnswer =
  | { readonly kind: 'rows'; readonly columns: readonly string[]; readonly rows: readonly (readonly Json[])[] }
  | { readonly kind: 'error'; readonly sqlState: string | null; readonly message: string };
