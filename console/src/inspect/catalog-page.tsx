import './inspect.css';
import { useMemo, type ReactNode } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { WhoamiEntry as Whoami } from '#coordinator/api/http/api-types.ts';
import type { AskState } from '../ask/ask-state.ts';
import { CatalogPanel } from '../catalog/catalog-panel.tsx';
import type { BrowsedObject } from '#coordinator/api/browse/browse-operations.ts';
import { CatalogTree } from '../catalog/catalog-tree.ts';
import { addressOf, placeOf } from './catalog-place.ts';
import { CatalogsOverview, CatalogOverview } from './catalog-overview.tsx';
import { ObjectPage } from './object-page.tsx';
import { SchemaPage } from './schema-page.tsx';

type Props = { readonly ask: AskState; readonly me: Whoami };

/** The catalog's pages: the tree beside a catalog, a schema or an object. */
export function CatalogPage({ ask, me }: Props): ReactNode {
  const [, navigate] = useLocation();
  // It changes with the address, which is read as it stands.
  useSearch();
  const tree = useMemo(() => new CatalogTree(), []);
  const { catalog, schema, object, tab } = placeOf(globalThis.location);
  const open = (found: BrowsedObject): void => {
    if (found.kind === 'catalog') navigate(addressOf(found.name));
    else if (found.kind === 'schema') navigate(addressOf(found.catalog, found.name));
    else navigate(addressOf(found.catalog, found.schema, found.relation ?? found.name));
  };
  return (
    <div className="catalog-page">
      <CatalogPanel
        tree={tree}
        onInsert={(_text, found) => open(found)}
        onPreview={(_text, found) => navigate(addressOf(found.catalog, found.schema, found.name, 'Rows'))}
        onChoose={open}
        at={{ catalog, schema, object }}
      />
      <div className="page" key={JSON.stringify([catalog, schema, object])}>
        {catalog === null ? (
          <CatalogsOverview me={me} />
        ) : schema === null ? (
          <CatalogOverview catalog={catalog} tab={tab} me={me} />
        ) : object === null ? (
          <SchemaPage catalog={catalog} schema={schema} me={me} />
        ) : (
          <ObjectPage path={{ catalog, schema, name: object }} tab={tab} ask={ask} me={me} />
        )}
      </div>
    </div>
  );
}
