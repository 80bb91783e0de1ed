/** What a text asks for. Embedded queries stay text; whoever runs them parses them with DuckDB. */
export type Statement =
  | { readonly kind: 'query'; readonly query: TextSpan }
  | {
      readonly kind: 'explain';
      readonly analyze: boolean;
      readonly type: 'logical' | 'distributed';
      readonly format: 'text' | 'json';
      readonly query: TextSpan;
    }
  | { readonly kind: 'describeQuery'; readonly query: TextSpan }
  /** `DESCRIBE t` and `SHOW COLUMNS FROM t`. */
  | { readonly kind: 'describeTable'; readonly name: ObjectName }
  /** `value` is null for DEFAULT. */
  | { readonly kind: 'set'; readonly name: string; readonly value: string | null }
  | { readonly kind: 'reset'; readonly name: string }
  | { readonly kind: 'resetAll' }
  /** `USE x` or `USE x.y`; whether one part names a catalog or a schema is the session's to decide. */
  | { readonly kind: 'use'; readonly name: ObjectName }
  | { readonly kind: 'useCatalog'; readonly catalog: string }
  | { readonly kind: 'showCatalogs'; readonly like: string | null }
  | { readonly kind: 'showSchemas'; readonly catalog: string | null; readonly like: string | null }
  /** `schema` is null for the session's; its parts are `schema` or `catalog.schema`. */
  | { readonly kind: 'showTables'; readonly schema: ObjectName | null; readonly like: string | null }
  | { readonly kind: 'showSetting'; readonly name: string }
  | { readonly kind: 'showAll' }
  | { readonly kind: 'begin' | 'commit' | 'rollback' };

/** A part of the statement; `offset` is its 0-based character position there. */
export type TextSpan = { readonly text: string; readonly offset: number };

/** A dotted name, parts unquoted, one to three of them. */
export type ObjectName = { readonly parts: readonly string[]; readonly position: number };

export type StatementLimits = {
  readonly bytesMax: number;
  /** Nesting of parentheses, brackets, CASE and prefix operators. */
  readonly depthMax: number;
};
