/** A page of a sorted list: at most `limit` entries that follow the name `after`. Undefined = from the start, or all. */
export type Page = { readonly after?: string; readonly limit?: number };

export const EVERYTHING: Page = {};
