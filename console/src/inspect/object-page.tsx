import type { ReactNode } from 'react';
import { Problem } from '../app/problem.tsx';
import { Crumbs } from './crumbs.tsx';
import { StagePage } from './stage-page.tsx';
import type { ObjectProps } from './object-props.ts';
import type { Details } from './table-answers.ts';
import { useObject } from './table-api.ts';
import { TablePage } from './table-page.tsx';
import { ViewPage } from './view-page.tsx';

/** The page of a table, a view or a stage. Stages have names of their own, so the address says when one is meant. */
export function ObjectPage(props: ObjectProps): ReactNode {
  return props.tab === 'Stage' ? <StagePage path={props.path} me={props.me} /> : <Relation {...props} />;
}

function Relation(props: ObjectProps): ReactNode {
  const { path } = props;
  const { data, error, isPending, refetch } = useObject<Details>('tables', path, 'details');
  // A table that was there when it was asked for last may have been dropped since.
  if (data !== undefined && error?.code !== 'TABLE_NOT_FOUND')
    return <TablePage {...props} details={data} onChanged={() => void refetch()} />;
  if (error?.code === 'WRONG_OBJECT_TYPE') return <ViewPage {...props} />;
  if (error?.code === 'TABLE_NOT_FOUND') return <StagePage path={path} me={props.me} />;
  return (
    <>
      <Crumbs {...path} kind="" />
      {isPending ? <p role="status">Loading …</p> : null}
      {error === null ? null : <Problem error={error} />}
    </>
  );
}
