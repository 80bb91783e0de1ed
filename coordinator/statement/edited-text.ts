import { DerivedText } from './derived-text.ts';

/**
 * A client's query in which some parts have other texts, or stand elsewhere. Nothing in it is proven: DuckDB parses all of it as one query.
 * Texts of our own with parts of a statement in them are a `SplicedText`.
 */
export class EditedText extends DerivedText {
  override slice(start: number, end: number, insertions: ReadonlyMap<number, string>): this {
    return super.slice(start, end, insertions);
  }
}
