import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { callJson, type ApiError } from '../api/call.ts';
import type { WhoamiEntry as Whoami } from '#coordinator/api/http/api-types.ts';
import { Problem } from '../app/problem.tsx';
import type { BrowsedObject } from '#coordinator/api/browse/browse-operations.ts';
import { Actions } from '../statement/action-form.tsx';
import { addressOf } from './catalog-place.ts';
import { Crumbs } from './crumbs.tsx';
import { DroppedTables } from './dropped-tables.tsx';
import { refusalOf } from './may.ts';
import { createCatalog, createSchema, dropCatalog, renameCatalog } from './statements.ts';
import { Tabs } from './tabs.tsx';

type Page = { readonly objects: readonly BrowsedObject[]; readonly next: string | null };

/** All catalogs. */
export function CatalogsOverview({ me }: { readonly me: Whoami }): ReactNode {
  const client = useQueryClient();
  return (
    <>
      <Crumbs kind="of the organisation" />
      <NameList label="Catalogs" query={{}} href={(name) => addressOf(name)} />
      <Actions
        onDone={() => void client.invalidateQueries({ queryKey: ['names'] })}
        actions={[
          {
            title: 'Create a catalog',
            fields: [{ name: 'NAME', kind: 'text' }],
            make: ({ NAME = '' }) => createCatalog(NAME),
            refusal: refusalOf(me.actions, 'catalog.create'),
          },
        ]}
      />
    </>
  );
}

type Props = { readonly catalog: string; readonly tab: string; readonly me: Whoami };

/** A catalog: its schemas, and what was dropped. */
export function CatalogOverview({ catalog, tab, me }: Props): ReactNode {
  const client = useQueryClient();
  return (
    <>
      <Crumbs catalog={catalog} kind="catalog" />
      <Tabs
        tabs={['Schemas', 'Dropped tables']}
        chosen={tab}
        hrefOf={(name) => addressOf(catalog, null, null, name)}
        label="About the catalog"
      >
        {(name) =>
          name === 'Schemas' ? (
            <>
              <NameList label="Schemas" query={{ catalog }} href={(schema) => addressOf(catalog, schema)} />
              <Actions
                onDone={() => void client.invalidateQueries({ queryKey: ['names'] })}
                actions={[
                  {
                    title: 'Create a schema',
                    fields: [
                      { name: 'NAME', kind: 'text', hint: 'a.b is the schema b within the schema a' },
                      { name: 'COMMENT', kind: 'text', optional: true },
                    ],
                    make: ({ NAME = '', COMMENT = '' }) => createSchema({ catalog, schema: NAME }, COMMENT),
                    refusal: refusalOf(me.actions, 'schema.create'),
                  },
                  {
                    title: 'Rename',
                    fields: [
                      { name: 'RENAME TO', kind: 'text', initial: catalog, hint: 'Clients name it in their settings' },
                    ],
                    make: (values) => renameCatalog(catalog, values['RENAME TO'] ?? ''),
                    refusal: refusalOf(me.actions, 'catalog.rename'),
                    leadsTo: (values) => addressOf(values['RENAME TO'] ?? ''),
                  },
                  {
                    title: 'Drop the catalog',
                    fields: [],
                    make: () => dropCatalog(catalog),
                    danger: catalog,
                    leadsTo: () => addressOf(null),
                    refusal: refusalOf(me.actions, 'catalog.drop'),
                  },
                ]}
              />
            </>
          ) : (
            <DroppedTables catalog={catalog} me={me} />
          )
        }
      </Tabs>
    </>
  );
}

type ListProps = {
  readonly label: string;
  readonly query: Readonly<Record<string, string>>;
  readonly href: (name: string) => string;
};

/** Names as links, a page at a time. */
function NameList({ label, query, href }: ListProps): ReactNode {
  const { data, error, isPending, hasNextPage, fetchNextPage } = useInfiniteQuery<Page, ApiError>({
    queryKey: ['names', query],
    initialPageParam: '',
    queryFn: ({ pageParam }) => {
      const asked = { ...query, ...(pageParam === '' ? {} : { after: String(pageParam) }) };
      return callJson<Page>(`/api/objects?${new URLSearchParams(asked).toString()}`);
    },
    getNextPageParam: ({ next }) => next,
  });
  if (error !== null) return <Problem error={error} />;
  if (isPending) return <p role="status">Loading …</p>;
  const objects = data.pages.flatMap((page) => page.objects);
  return (
    <>
      {objects.length === 0 ? <p className="quiet">Nothing here.</p> : null}
      <ul className="names" aria-label={label}>
        {objects.map(({ name }) => (
          <li key={name}>
            <Link href={href(name)}>{name}</Link>
          </li>
        ))}
      </ul>
      {hasNextPage ? (
        <button type="button" onClick={() => void fetchNextPage()}>
          More
        </button>
      ) : null}
    </>
  );
}
