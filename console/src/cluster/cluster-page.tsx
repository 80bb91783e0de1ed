import { Dialog } from '@base-ui/react/dialog';
import { lazy, Suspense, useEffect, useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { call } from '../api/call.ts';
import { CopyButton } from '../app/copy-button.tsx';
import { Problem } from '../app/problem.tsx';
import { printBytes, printCount, printMs, printTime } from '../app/print-figures.ts';
import { useStore } from '../app/store.ts';
import type {
  ClusterEntry,
  LiveQueryEntry,
  QosStats,
  ResourceGroupEntry,
  WorkerEntry,
} from '#coordinator/api/http/api-types.ts';
import { useSeries, usePolled } from './cluster-state.ts';
import { EventFeed } from './event-feed.ts';
import { groupTree } from './group-tree.ts';

const SeriesChart = lazy(() => import('./series-chart.tsx').then((module) => ({ default: module.SeriesChart })));

/** The cluster as it is now, and in the last hour. */
export function ClusterPage({ owner }: { readonly owner: string }): ReactNode {
  const cluster = usePolled<ClusterEntry>('/api/cluster?limit=500');
  const groups = usePolled<{ readonly resource_groups: readonly ResourceGroupEntry[] }>(
    '/api/resource-groups?limit=500',
  );
  const levels = usePolled<QosStats>('/api/qos/stats');
  const queries = usePolled<{ readonly queries: readonly LiveQueryEntry[] }>('/api/query?limit=200');
  const series = useSeries();
  const error = cluster.error ?? groups.error ?? levels.error ?? queries.error;
  return (
    <div className="page">
      <h1>Cluster</h1>
      {error === null ? null : <Problem error={error} />}
      {cluster.data === undefined ? <p role="status">Loading …</p> : <Coordinator cluster={cluster.data} />}
      {series === undefined || series.seconds.length === 0 ? null : <Charts series={series} />}
      <Queries queries={queries.data?.queries ?? []} />
      <Workers workers={cluster.data?.workers ?? []} />
      <Groups groups={groups.data?.resource_groups ?? []} />
      <Feedback levels={levels.data} />
      <Events owner={owner} />
    </div>
  );
}

/** The last hour. */
function Charts({ series }: { readonly series: NonNullable<ReturnType<typeof useSeries>> }): ReactNode {
  const { seconds, running_by_class: classes } = series;
  return (
    <Suspense fallback={<p role="status">Loading …</p>}>
      <div className="charts">
        <SeriesChart
          title="Queries"
          seconds={seconds}
          lines={[
            { name: 'running', values: series.queries_running },
            { name: 'waiting', values: series.queries_queued },
          ]}
          print={printCount}
        />
        <SeriesChart
          title="Running by class"
          seconds={seconds}
          lines={[
            { name: 'interactive', values: classes.interactive },
            { name: 'medium', values: classes.medium },
            { name: 'batch', values: classes.batch },
          ]}
          print={printCount}
        />
        <SeriesChart
          title="Tasks"
          seconds={seconds}
          lines={[
            { name: 'running', values: series.running_tasks },
            { name: 'slots', values: series.slots },
          ]}
          print={printCount}
        />
        <SeriesChart
          title="Memory"
          seconds={seconds}
          lines={[
            { name: 'granted', values: series.memory_granted_bytes },
            { name: 'limit', values: series.memory_limit_bytes },
            { name: 'spool', values: series.spool_bytes },
          ]}
          print={printBytes}
          areBytes
        />
      </div>
    </Suspense>
  );
}

function Coordinator({
  cluster: { coordinator, queries_running: running, queries_queued: queued, total },
}: {
  readonly cluster: ClusterEntry;
}): ReactNode {
  return (
    <p>
      Coordinator {coordinator.version}, active since {printTime(coordinator.active_since)} (term {coordinator.epoch}) ·{' '}
      {counted(total, 'worker')} · {counted(running, 'query', 'queries')} running, {printCount(queued)} waiting
    </p>
  );
}

const counted = (count: number, one: string, many = `${one}s`): string =>
  `${printCount(count)} ${count === 1 ? one : many}`;

type TableProps<Row> = {
  readonly title: string;
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly columns: readonly (readonly [string, (row: Row) => ReactNode])[];
  readonly empty: string;
};

function Table<Row>({ title, rows, keyOf, columns, empty }: TableProps<Row>): ReactNode {
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      {rows.length === 0 ? (
        <p className="quiet">{empty}</p>
      ) : (
        <div className="scroll" tabIndex={0} role="region" aria-label={`Table: ${title}`}>
          <table>
            <thead>
              <tr>
                {columns.map(([name]) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={keyOf(row)}>
                  {columns.map(([name, print]) => (
                    <td key={name}>{print(row)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

/** The queries that run and wait, with a way to end it that asks first. */
function Queries({ queries }: { readonly queries: readonly LiveQueryEntry[] }): ReactNode {
  const [ending, end] = useState<LiveQueryEntry | null>(null);
  return (
    <>
      <Table
        title="Queries that run and wait"
        rows={queries}
        keyOf={({ query_id: id }) => id}
        empty="Nothing runs."
        columns={[
          ['State', ({ state }) => state],
          [
            'Statement',
            ({ query_id: id, sql }) => <Link href={`/queries/${id}`}>{sql.slice(0, 120) || '(not read yet)'}</Link>,
          ],
          ['User', ({ username }) => username],
          ['Group', ({ resource_group: group }) => group],
          ['Class', ({ workload_class: kind }) => kind ?? '–'],
          ['Time', ({ elapsed_ms: ms }) => printMs(ms)],
          ['Tasks', ({ tasks, tasks_done: done }) => `${done} of ${tasks}`],
          [
            'Why it waits',
            ({ reason, queue_position: place }) => (reason === null ? '' : `place ${place ?? '–'}: ${reason}`),
          ],
          [
            'End',
            (query) => (
              <button type="button" onClick={() => end(query)}>
                Cancel
              </button>
            ),
          ],
        ]}
      />
      {ending === null ? null : <ConfirmCancel query={ending} onClose={() => end(null)} />}
    </>
  );
}

function ConfirmCancel({
  query,
  onClose,
}: {
  readonly query: LiveQueryEntry;
  readonly onClose: () => void;
}): ReactNode {
  const [problem, setProblem] = useState('');
  const cancel = (): void => {
    const path = `/api/query/${query.query_id}?user_id=${encodeURIComponent(query.user_id)}`;
    call(path, { method: 'DELETE' }).then(onClose, (error: unknown) =>
      setProblem(error instanceof Error ? error.message : String(error)),
    );
  };
  return (
    <Dialog.Root open onOpenChange={(isOpen) => isOpen || onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog">
          <Dialog.Title>Cancel the query of {query.username}?</Dialog.Title>
          <Dialog.Description>{query.sql.slice(0, 300)}</Dialog.Description>
          {problem === '' ? null : <p role="alert">{problem}</p>}
          <div className="bar">
            <button type="button" className="primary" onClick={cancel}>
              Cancel the query
            </button>
            <Dialog.Close>Let it run</Dialog.Close>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

const bytesOr = (bytes: number | null): string => (bytes === null ? '–' : printBytes(bytes));

function Workers({ workers }: { readonly workers: readonly WorkerEntry[] }): ReactNode {
  return (
    <Table
      title="Workers"
      rows={workers}
      keyOf={({ name, since }) => name ?? since}
      empty="No worker is known."
      columns={[
        ['Name', ({ name }) => name ?? '(not heard of yet)'],
        ['State', ({ state, since }) => `${state} since ${printTime(since)}`],
        ['Tasks', ({ running_tasks: tasks, slots }) => `${tasks ?? '–'} on ${slots ?? '–'} slots`],
        [
          'Memory',
          ({ memory_granted_bytes: granted, memory_limit_bytes: limit }) => `${bytesOr(granted)} of ${bytesOr(limit)}`,
        ],
        ['Spool', ({ spool_bytes: bytes }) => bytesOr(bytes)],
        ['Release', ({ version }) => version ?? '–'],
        ['Drain', ({ name }) => (name === null ? '' : <DrainCommand name={name} />)],
      ]}
    />
  );
}

/** Draining is the operator's: the page has the command, and does not run it. */
function DrainCommand({ name }: { readonly name: string }): ReactNode {
  const command = `skein worker drain '${name.replaceAll("'", `'\\''`)}'`;
  return <CopyButton label="Copy the command" title={command} text={command} />;
}

function Groups({ groups }: { readonly groups: readonly ResourceGroupEntry[] }): ReactNode {
  return (
    <Table
      title="Resource groups"
      rows={groupTree(groups)}
      keyOf={({ group }) => group.path}
      empty="No group can be reached."
      columns={[
        ['Group', ({ name, depth }) => <span style={{ paddingLeft: `${depth * 1.2}rem` }}>{name}</span>],
        ['Running', ({ group }) => `${group.running} of ${group.effective_concurrency}`],
        ['Waiting', ({ group }) => `${group.queued} of ${group.max_queued_queries}`],
        [
          'Memory',
          ({ group }) =>
            `${printBytes(group.memory_bytes)}${group.soft_memory_limit_bytes === null ? '' : ` of ${printBytes(group.soft_memory_limit_bytes)}`}`,
        ],
        [
          'CPU',
          ({ group }) =>
            `${printMs(group.cpu_usage_ms)}${group.soft_cpu_limit_ms === null ? '' : ` of ${printMs(group.soft_cpu_limit_ms)}`}`,
        ],
        ['Order', ({ group }) => group.scheduling_policy],
        ['Why', ({ group }) => whyWaits(group)],
      ]}
    />
  );
}

/** The limit by which a group lets queries wait. */
function whyWaits({
  queued,
  running,
  effective_concurrency: may,
  hard_concurrency_limit: limit,
  memory_bytes: memory,
  soft_memory_limit_bytes: memoryMax,
}: ResourceGroupEntry): string {
  if (queued === 0) return '';
  if (memoryMax !== null && memory >= memoryMax) return 'its memory is at the limit';
  if (running >= may) return may < limit ? 'it is over its CPU limit' : `it runs ${running} of ${limit}`;
  return 'a group above it is full';
}

function Feedback({ levels }: { readonly levels: QosStats | undefined }): ReactNode {
  const rows = (levels?.mlfq.level_queue_depths ?? []).map((depth, level) => ({
    level,
    depth,
    ms: levels?.mlfq.level_scheduled_ms[level] ?? 0,
  }));
  return (
    <Table
      title="Feedback levels"
      rows={rows}
      keyOf={({ level }) => String(level)}
      empty="No worker is ready."
      columns={[
        ['Level', ({ level }) => level],
        ['Tasks that can run', ({ depth }) => printCount(depth)],
        ['Time that tasks had', ({ ms }) => printMs(ms)],
      ]}
    />
  );
}

function Events({ owner }: { readonly owner: string }): ReactNode {
  const [made, setMade] = useState<EventFeed | null>(null);
  useEffect(() => {
    const opened = new EventFeed(owner);
    setMade(opened);
    return () => opened.end();
  }, [owner]);
  return (
    <section aria-label="Events">
      <h2>Events</h2>
      {made === null ? null : <EventList feed={made} />}
    </section>
  );
}

function EventList({ feed }: { readonly feed: EventFeed }): ReactNode {
  const events = useStore(feed.events, (value) => value);
  if (events.length === 0) return <p className="quiet">Nothing has happened since the page was opened.</p>;
  return (
    <ol className="events" tabIndex={0} aria-label="Latest events">
      {events.map(({ id, kind, data, atMs }, at) => (
        <li key={`${id} ${at}`}>
          <span className="quiet">{new Date(atMs).toLocaleTimeString()}</span> {kind}{' '}
          {[data['status'], data['state']].find((one) => typeof one === 'string')}{' '}
          {typeof data['sql'] === 'string'
            ? data['sql'].slice(0, 160)
            : typeof data['name'] === 'string'
              ? data['name']
              : ''}
        </li>
      ))}
    </ol>
  );
}
