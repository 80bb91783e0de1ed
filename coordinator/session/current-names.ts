import { defaultCatalog } from '#shared/default-catalog.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import { didYouMean, nearestName } from '#shared/nearest-name.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { mayDo, type Caller } from '../auth/authenticate.ts';
import { schemaName } from '../catalog-client/catalog-browser.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import { currentSchema } from './search-path.ts';
import type { SessionState } from './session.ts';

/** The current catalog and schema of unqualified names. `catalog` is empty when the tenant has none. */
export type CurrentNames = { readonly catalog: string; readonly schema: readonly string[] };

type Options = {
  readonly catalog: CatalogClient;
  /** Preferred defaults, if the tenant has a catalog or namespace of the name. */
  readonly defaultCatalog: string;
  readonly defaultSchema: string;
};

/** Finds catalogs and schemas by name: exactly first, then without case. */
export class NameFinder {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** A session starts in the user's DEFAULT_WAREHOUSE, if there is a catalog of this name, else in the default catalog of the tenant. */
  async current({ claims, standing }: Pick<Caller, 'claims' | 'standing'>, state: SessionState): Promise<CurrentNames> {
    const wanted = standing?.defaultWarehouse ?? null;
    const own = state.catalog === null && wanted !== null ? await this.findCatalog(claims, wanted) : undefined;
    const catalog = state.catalog ?? own ?? (await this.#defaultCatalog(claims));
    return { catalog, schema: currentSchema(state) ?? [this.#options.defaultSchema] };
  }

  /** The catalog as it is stored. @throws CATALOG_NOT_FOUND */
  async catalog(caller: Caller, name: string): Promise<string> {
    const names = await this.#catalogs(caller.claims);
    const found = findName(names, name);
    if (found !== undefined) return found;
    // The message suggests a catalog's name only to callers that may list catalogs.
    const near = mayDo(caller, 'catalog.list') ? nearestName(name, names) : undefined;
    throw new SkeinError('CATALOG_NOT_FOUND', `catalog ${name} does not exist${didYouMean(near)}`);
  }

  /** The catalog as it is stored; undefined when there is none. */
  async findCatalog(principal: Principal, name: string): Promise<string | undefined> {
    return findName(await this.#catalogs(principal), name);
  }

  /** The levels of a schema as they are stored; undefined when there is none. @throws CATALOG_NOT_FOUND */
  async schema(principal: Principal, catalog: string, name: string): Promise<readonly string[] | undefined> {
    const folded = foldIdentifier(name);
    let alike: readonly string[] | undefined;
    for await (const page of this.#options.catalog.listNamespaces(principal, catalog, 'schema.resolve', name)) {
      const exact = page.find((levels) => schemaName(levels) === name);
      if (exact !== undefined) return exact;
      alike ??= page.find((levels) => foldIdentifier(schemaName(levels)) === folded);
    }
    return alike;
  }

  #catalogs(principal: Principal): Promise<readonly string[]> {
    return this.#options.catalog.findCatalogs(principal);
  }

  /** By the leased list of catalogs, so a default that was made, dropped or renamed counts for the next statement. */
  async #defaultCatalog(principal: Principal): Promise<string> {
    return defaultCatalog(await this.#catalogs(principal), this.#options.defaultCatalog) ?? '';
  }
}

function findName(names: readonly string[], name: string): string | undefined {
  const folded = foldIdentifier(name);
  return names.find((one) => one === name) ?? names.find((one) => foldIdentifier(one) === folded);
}
