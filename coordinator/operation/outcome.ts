/** The outcome of a statement, for history. */
export type Outcome = { readonly rowsProduced: number; readonly bytesScanned: number; readonly fragments: number };
