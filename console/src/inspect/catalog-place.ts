/** A place of the catalog's pages, as the address has it. */
export type CatalogPlace = {
  readonly catalog: string | null;
  readonly schema: string | null;
  readonly object: string | null;
  readonly tab: string;
};

const BASE = '/console/catalog';

/** Reads the address by itself: a name may hold a slash or a percent sign, which a router would take apart. */
export function placeOf({ pathname, search }: { readonly pathname: string; readonly search: string }): CatalogPlace {
  const parts = pathname
    .slice(BASE.length + 1)
    .split('/')
    .map(decoded);
  const [catalog = '', schema = '', object = ''] = parts;
  return {
    catalog: catalog === '' ? null : catalog,
    schema: schema === '' ? null : schema,
    object: object === '' ? null : object,
    tab: new URLSearchParams(search).get('tab') ?? '',
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The address of a place, below the console's own. */
export function addressOf(catalog: string | null, schema?: string | null, object?: string | null, tab = ''): string {
  const parts = [catalog, schema, object].filter((part) => part !== null && part !== undefined);
  const path = ['/catalog', ...parts.map((part) => encodeURIComponent(part))].join('/');
  return tab === '' ? path : `${path}?tab=${encodeURIComponent(tab)}`;
}

/** The path of the API below a schema, whose levels are joined by the unit separator. */
export const apiPath = (catalog: string, schema: string): string =>
  `/api/catalogs/${encodeURIComponent(catalog)}/namespaces/${encodeURIComponent(schema.split('.').join('\u001F'))}`;
