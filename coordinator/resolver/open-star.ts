import { SkeinError } from '#shared/error.ts';
import { isAddressName } from '#shared/iceberg/address-columns.ts';
import { hiddenColumn, isHiddenName } from '../binding/hidden-columns.ts';
import { namedView } from '../binding/schema-views.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { OpenTable, Scope } from './name-scope.ts';
import type { StarReference } from '../binding/query-references.ts';

/** A place where all columns of a FROM are meant. */
export type OpenStar = {
  readonly kind: 'star' | 'columns' | 'natural';
  readonly location: number;
  /** The table before `.*`, folded; '' for all. */
  readonly relation: string;
  readonly scope: Scope;
};

/** Whether `*` never means a column of this folded name. */
export const isUnlisted = (name: string): boolean => isAddressName(name) || isHiddenName(name);

function hasHidden({ parts }: OpenTable, name: string): boolean {
  const view = namedView(parts)?.view;
  return view !== undefined && hiddenColumn(view, name) !== undefined;
}

const nameOfTable = (table: OpenTable): string => foldIdentifier(table.givenAlias || (table.parts.at(-1) ?? ''));

/**
 * Gives the tables that a reference to an address column or a hidden one may mean that column. The nearest FROM that can give it does: any
 * table has addresses, only the view itself its hidden columns.
 */
export function markAddresses(names: readonly string[], scope: Scope): void {
  const at = names.findIndex(isUnlisted);
  const name = names[at] ?? '';
  const qualifier = names[at - 1];
  for (let from: Scope | null = scope; from !== null; from = from.parent) {
    if (qualifier === undefined ? from.sources.size === 0 : !from.sources.has(qualifier)) continue;
    const meant = from.bases.filter(
      (table) =>
        (qualifier === undefined || nameOfTable(table) === qualifier) &&
        (isAddressName(name) || hasHidden(table, name)),
    );
    for (const table of meant) table.addresses.add(name);
    if (isAddressName(name) || qualifier !== undefined || meant.length > 0) return;
  }
}

/** @throws NOT_SUPPORTED where the columns of a table cannot be told from its address columns */
export function closedStar({ kind, location, relation, scope }: OpenStar, all: readonly OpenTable[]): StarReference[] {
  const named = scope.bases.filter((table) => table.addresses.size > 0 && ['', nameOfTable(table)].includes(relation));
  if (named.length === 0) return [];
  if (kind === 'star') return [{ location, tables: named.map((table) => all.indexOf(table)) }];
  const what = kind === 'columns' ? 'COLUMNS' : 'NATURAL JOIN';
  const beside = [...(named[0]?.addresses ?? [])].join(', ');
  throw new SkeinError('NOT_SUPPORTED', `${what} is not served beside ${beside}`, { position: location });
}
