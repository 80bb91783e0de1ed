/** A column of a result by which its rows are ordered. */
export type ResultOrder = { readonly column: string; readonly descending: boolean };
