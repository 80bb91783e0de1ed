/** The answer to a statement, as JSON. */
export type StatementAnswer = {
  readonly columns: readonly string[];
  readonly types: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  readonly row_count: number;
  readonly elapsed_ms: number;
};

/** A statement that a form has made. What is secret is no part of the text, and goes as a parameter. */
export type MadeStatement = { readonly sql: string; readonly secrets?: readonly string[] };
