/** Statements after which a tree of the catalog may be another one. */
const CHANGES = /^\s*(?:CREATE|DROP|UNDROP|ALTER|COMMENT)\b/i;
const CHANGED = 'skein-catalog-changed';

/** Tells the trees of this window that a statement has run. */
export function tellChange(sql: string): void {
  if (CHANGES.test(sql)) globalThis.dispatchEvent(new Event(CHANGED));
}

/** @returns what ends the listening */
export function onCatalogChange(listener: () => void): () => void {
  addEventListener(CHANGED, listener);
  return () => removeEventListener(CHANGED, listener);
}
