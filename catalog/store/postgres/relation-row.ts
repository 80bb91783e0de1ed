import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { TableIdent } from '../../metadata/object-name.ts';
import type { RelationFacts } from '../../metadata/relation-facts.ts';
import { isForeignKeyViolation, isUniqueViolation, nameTakenBy } from './errors.ts';
import { namespaceNotFound, requireNotReserved } from './namespace-store.ts';
import type { Tx } from './tables.ts';

/** The part that the rows of tables and of views have in common. */

type Kind = 'iceberg_table' | 'iceberg_view';

/** The names of both differ, and so do their rows' other columns, which nothing here reads. */
const ofBoth = (kind: Kind) => kind as 'iceberg_view';

export type RelationDocument = {
  /** Normalised location. */
  readonly location: string;
  readonly metadataLocation: string;
  readonly metadata: string;
  readonly facts: RelationFacts;
};

export type NewRelation = RelationDocument & {
  readonly catalogId: string;
  readonly namespaceId: string;
  readonly ident: TableIdent;
};

/** The columns of a new row. */
export const newRelationColumns = ({ catalogId, namespaceId, ident, ...document }: NewRelation) => ({
  catalog_id: catalogId,
  namespace_id: namespaceId,
  name: ident.name,
  name_folded: foldIdentifier(ident.name),
  ...documentColumns(document, 0),
});

/** The columns that a commit replaces. */
export const documentColumns = (
  { location, metadataLocation, metadata, facts }: RelationDocument,
  version: number,
) => ({
  location,
  metadata_location: metadataLocation,
  metadata,
  version,
  facts_version: version,
  summary: facts.summary,
  columns: facts.columns,
});

type FoundRow = { readonly id: string; readonly namespaceId: string };
type Move = {
  readonly kind: Kind;
  /** The namespace that it moves to. */
  readonly namespaceId: string;
  readonly from: TableIdent;
  readonly to: TableIdent;
  /** Makes the error for a name that another has. */
  readonly taken: (by: 'table' | 'view', cause: unknown) => Error;
};

/**
 * Moves a table or a view to another name or namespace. Returns whether it still had the name by which it was found: of two concurrent
 * renames one succeeds.
 * @throws RESERVED_NAME, what `taken` makes, SCHEMA_NOT_FOUND
 */
export async function moveRelation(
  tx: Tx,
  row: FoundRow,
  { kind, namespaceId, from, to, taken }: Move,
): Promise<boolean> {
  requireNotReserved(to.namespace);
  try {
    const { numUpdatedRows } = await tx
      .updateTable(ofBoth(kind))
      .set({ namespace_id: namespaceId, name: to.name, name_folded: foldIdentifier(to.name) })
      .where('id', '=', row.id)
      .where('namespace_id', '=', row.namespaceId)
      .where('name', '=', from.name)
      .executeTakeFirst();
    return numUpdatedRows === 1n;
  } catch (error) {
    const other = nameTakenBy(error);
    if (other === 'table' || other === 'view') throw taken(other, error);
    if (isUniqueViolation(error)) throw taken(kind === 'iceberg_table' ? 'table' : 'view', error);
    if (isForeignKeyViolation(error)) namespaceNotFound(to.namespace);
    throw error;
  }
}
