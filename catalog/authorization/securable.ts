import { splitPath } from '../metadata/object-name.ts';

/**
 * The object that an action is done to, by its name as it is stored, or as it was asked for where nothing of this name is stored. Listing
 * and creating are done to the object that contains the others: `table.create` to a schema, `catalog.list` to the tenant. The rights that a
 * principal has anywhere in its tenant are those to the tenant.
 */
export type Securable =
  | { readonly kind: 'tenant' }
  | { readonly kind: 'catalog'; readonly catalog: string }
  | { readonly kind: 'schema'; readonly catalog: string; readonly namespace: readonly string[] }
  | {
      readonly kind: 'table' | 'view' | 'function' | 'stage';
      readonly catalog: string;
      readonly namespace: readonly string[];
      readonly name: string;
    };

export const THE_TENANT: Securable = { kind: 'tenant' };

const LEAVES = ['table', 'view', 'function', 'stage'] as const;

/** The object that a path of the REST API names: its parameters are catalog (`prefix`), namespace, and the object in it. */
export function securableOfPath(params: Readonly<Record<string, string>>): Securable {
  const catalog = params['prefix'] ?? params['catalog'];
  if (catalog === undefined) return THE_TENANT;
  const { namespace: path } = params;
  if (path === undefined) return { kind: 'catalog', catalog };
  const namespace = splitPath(path);
  for (const kind of LEAVES) {
    const name = params[kind];
    if (name !== undefined) return { kind, catalog, namespace, name };
  }
  return { kind: 'schema', catalog, namespace };
}
