/** A part of a sorted list: what comes after a name, and at most so many; undefined = from the start, all. */
export type Page = { readonly after?: string; readonly limit?: number };

export const EVERYTHING: Page = {};
