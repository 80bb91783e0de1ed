import { takeSortedBy, type SortClause } from '../../clause/transform.ts';
import { bindSortOrder } from '../../table/bind-transforms.ts';
import type { Edit } from '../edit.ts';

/** `SET SORTED BY (...)`; with nothing in the brackets the table has no order */
export const setSortedBy: Edit<{ readonly clauses: readonly SortClause[] }> = {
  words: ['SET SORTED BY'],
  parse(reader) {
    reader.words(3);
    return { clauses: takeSortedBy(reader) };
  },
  apply: (draft, { clauses }) => ({ ...draft, sortOrder: bindSortOrder(draft.fields, clauses) }),
};
