/** A part of the statement; `offset` is its 0-based character position there. */
export type TextSpan = {
  readonly text: string;
  readonly offset: number;
  /** Set when the parser has found that it is a literal. */
  readonly isLiteral?: true;
};

/** A dotted name, parts unquoted, one to three of them. */
export type ObjectName = { readonly parts: readonly string[]; readonly position: number };

export type StatementLimits = {
  readonly bytesMax: number;
  /** Nesting of parentheses, brackets, CASE and prefix operators. */
  readonly depthMax: number;
};
