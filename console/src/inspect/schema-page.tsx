import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link, useSearchParams } from 'wouter';
import { callJson, type ApiError } from '../api/call.ts';
import type { WhoamiEntry as Whoami } from '#coordinator/api/http/api-types.ts';
import { Problem } from '../app/problem.tsx';
import { printBytes, printCount, printTime } from '../app/print-figures.ts';
import type { BrowsedObject } from '#coordinator/api/browse/browse-operations.ts';
import { LoadButton } from '../load/load-button.tsx';
import { LoadFile } from '../load/load-file.tsx';
import { Actions, type Values } from '../statement/action-form.tsx';
import { addressOf } from './catalog-place.ts';
import { Crumbs } from './crumbs.tsx';
import { HIDDEN } from './hidden.tsx';
import { refusalOf } from './may.ts';
import { commentOnSchema, createStage, createView, dropSchema, renameSchema } from './statements.ts';

const PAGE = 100;
/** Columns that the server sorts by, and what they are called. */
const SORTS = { name: 'name', owner: 'owner', changed: 'last change', rows: 'rows', bytes: 'bytes' } as const;

type Listed = BrowsedObject;
type Page = { readonly objects: readonly Listed[]; readonly total: number };
type Props = { readonly catalog: string; readonly schema: string; readonly me: Whoami };

/** A schema: its tables, views and stages, sorted and paged by the server. */
export function SchemaPage({ catalog, schema, me }: Props): ReactNode {
  const [search, setSearch] = useSearchParams();
  const client = useQueryClient();
  const sort = search.get('sort') ?? 'name';
  const descending = search.get('descending') === 'true';
  const offset = Number(search.get('offset') ?? 0);
  const asked = { catalog, schema, sort, descending: String(descending), offset: String(offset), limit: String(PAGE) };
  const { data, error, isPending } = useQuery<Page, ApiError>({
    queryKey: ['schema', asked],
    queryFn: () => callJson(`/api/objects?${new URLSearchParams(asked).toString()}`),
    placeholderData: (before) => before,
  });
  const go = (next: Readonly<Record<string, string>>): void => setSearch(new URLSearchParams(next));
  return (
    <>
      <Crumbs catalog={catalog} schema={schema} kind="schema" />
      {error === null ? null : <Problem error={error} />}
      {isPending ? <p role="status">Loading …</p> : null}
      {data === undefined ? null : (
        <>
          <Objects
            objects={data.objects}
            sort={sort}
            descending={descending}
            onSort={(by) => go({ sort: by, descending: String(by === sort && !descending) })}
          />
          <p className="bar">
            <button
              type="button"
              disabled={offset === 0}
              onClick={() => go({ sort, descending: String(descending), offset: String(Math.max(0, offset - PAGE)) })}
            >
              Before
            </button>
            <span className="quiet">
              {data.total === 0
                ? 'Nothing here'
                : `${offset + 1} to ${offset + data.objects.length} of ${printCount(data.total)}`}
            </span>
            <button
              type="button"
              disabled={offset + PAGE >= data.total}
              onClick={() => go({ sort, descending: String(descending), offset: String(offset + PAGE) })}
            >
              Next
            </button>
          </p>
        </>
      )}
      <LoadButton>
        <LoadFile
          catalog={catalog}
          schema={schema}
          refusal={refusalOf(me.actions, 'table.create')}
          onLoaded={() => void client.invalidateQueries({ queryKey: ['schema'] })}
        />
      </LoadButton>
      <Actions
        onDone={() => void client.invalidateQueries({ queryKey: ['schema'] })}
        actions={schemaActions(catalog, schema, me)}
      />
    </>
  );
}

type ObjectsProps = {
  readonly objects: readonly Listed[];
  readonly sort: string;
  readonly descending: boolean;
  readonly onSort: (by: string) => void;
};

function Objects({ objects, sort, descending, onSort }: ObjectsProps): ReactNode {
  const order = descending ? 'descending' : 'ascending';
  return (
    <div className="scroll" role="region" aria-label="Objects of the schema" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {Object.entries(SORTS).map(([by, title]) => (
              <th key={by} scope="col" aria-sort={by === sort ? order : undefined}>
                <button type="button" className="link" onClick={() => onSort(by)}>
                  {title} {by === sort ? (descending ? '▾' : '▴') : ''}
                </button>
              </th>
            ))}
            <th scope="col">kind</th>
            <th scope="col">comment</th>
          </tr>
        </thead>
        <tbody>
          {objects.map(({ kind, name, catalog, schema, comment, details }) => (
            <tr key={`${kind} ${name}`}>
              <td>
                <Link href={addressOf(catalog, schema, name, kind === 'stage' ? 'Stage' : '')}>{name}</Link>
              </td>
              <td>{details?.owner}</td>
              <td>{details?.changed == null ? '' : printTime(details.changed)}</td>
              <td className="number">{figure(details, details?.rows, printCount)}</td>
              <td className="number">{figure(details, details?.bytes, printBytes)}</td>
              <td>{kind}</td>
              <td className="text">{comment}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function figure(
  details: Listed['details'],
  value: number | null | undefined,
  print: (value: number) => string,
): string {
  if (value !== null && value !== undefined) return print(value);
  return details?.has_policies === true ? HIDDEN : '';
}

const schemaActions = (catalog: string, schema: string, { actions }: Whoami) => [
  {
    title: 'Create a view',
    fields: [
      { name: 'NAME', kind: 'text' as const },
      { name: 'AS', kind: 'lines' as const, hint: 'A query' },
    ],
    make: ({ NAME = '', AS = '' }) => createView({ catalog, schema, name: NAME }, AS),
    refusal: refusalOf(actions, 'view.create'),
  },
  {
    title: 'Create a stage',
    fields: [
      { name: 'NAME', kind: 'text' as const },
      { name: 'COMMENT', kind: 'text' as const, optional: true },
    ],
    make: ({ NAME = '', COMMENT = '' }) => createStage({ catalog, schema, name: NAME }, COMMENT),
    refusal: refusalOf(actions, 'stage.create'),
  },
  {
    title: 'Comment on the schema',
    fields: [{ name: 'COMMENT', kind: 'text' as const, optional: true }],
    make: ({ COMMENT = '' }) => commentOnSchema({ catalog, schema }, COMMENT),
    refusal: refusalOf(actions, 'schema.alter'),
  },
  {
    title: 'Rename',
    fields: [{ name: 'RENAME TO', kind: 'text' as const, initial: schema, hint: 'With all its levels, such as a.b' }],
    make: (values: Values) => renameSchema({ catalog, schema }, values['RENAME TO'] ?? ''),
    refusal: refusalOf(actions, 'schema.rename'),
    leadsTo: (values: Values) => addressOf(catalog, values['RENAME TO'] ?? ''),
  },
  {
    title: 'Drop the schema',
    fields: [],
    make: () => dropSchema({ catalog, schema }),
    danger: schema,
    leadsTo: () => addressOf(catalog),
    refusal: refusalOf(actions, 'schema.drop'),
  },
];
