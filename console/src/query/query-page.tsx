import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { lazy, Suspense, useMemo, useState, type ReactNode } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { callJson, type ApiError } from '../api/call.ts';
import type { RecordEntry } from '#coordinator/api/http/api-types.ts';
import { isLive } from '../api/history-record.ts';
import type { QueryProfileEntry } from '#coordinator/api/http/api-types.ts';
import type { QueryRunProfile, StageProfile } from '#coordinator/profile/profile-types.ts';
import { Problem } from '../app/problem.tsx';
import { printBytes, printCount, printMs, printTime } from '../app/print-figures.ts';
import type { AskState } from '../ask/ask-state.ts';
import { errorPlace } from '../editor/error-place.ts';
import { CompareRuns } from './compare-runs.tsx';
import { findings } from './findings.ts';
import { TimeLine } from './time-line.tsx';

const StageGraph = lazy(() => import('./stage-graph.tsx').then((module) => ({ default: module.StageGraph })));
const LIVE_MS = 1_000;
const PlanGraph = lazy(() => import('./plan-graph.tsx').then((module) => ({ default: module.PlanGraph })));
const VIEWS = ['graph', 'operators', 'table', 'plan', 'JSON'] as const;

const useLive = <T extends { readonly status: string }>(path: string): UseQueryResult<T, ApiError> =>
  useQuery<T, ApiError>({
    queryKey: [path],
    queryFn: () => callJson<T>(path),
    refetchInterval: ({ state }) => (state.data === undefined || isLive(state.data.status) ? LIVE_MS : false),
    retry: 3,
  });

/** A query: what it was, where its time went, and why. */
export function QueryPage({ id, ask }: { readonly id: string; readonly ask: AskState }): ReactNode {
  const record = useLive<RecordEntry>(`/api/query-history/${id}`);
  const profile = useLive<QueryProfileEntry>(`/api/query-history/${id}/profile`);
  const [search, setSearch] = useSearchParams();
  const [, navigate] = useLocation();
  const other = search.get('with');
  if (record.error !== null) return <Problem error={record.error} />;
  if (record.data === undefined) return <p role="status">Loading …</p>;
  const { sql, status, errorMessage } = record.data;
  const open = async (): Promise<void> => {
    await ask.tabs.add(sql);
    navigate('/ask');
  };
  return (
    <div className="page">
      <h1>
        Query <small className={`state ${status}`}>{status}</small>
      </h1>
      <p className="quiet">{id}</p>
      <Facts record={record.data} />
      <Statement sql={sql} error={errorMessage} />
      <form
        className="bar"
        onSubmit={(event) => {
          event.preventDefault();
          const given = new FormData(event.currentTarget).get('with');
          setSearch(typeof given === 'string' && given.trim() !== '' ? { with: given.trim() } : {});
        }}
      >
        <button type="button" onClick={() => void open()}>
          Open as a tab
        </button>
        <label className="row">
          Compare with query
          <input name="with" defaultValue={other ?? ''} placeholder="id" />
        </label>
        <button type="submit">Compare</button>
      </form>
      {other === null ? null : <CompareRuns one={id} other={other} />}
      {profile.error === null ? null : <Problem error={profile.error} />}
      {profile.data === undefined ? null : <Profile profile={profile.data} />}
    </div>
  );
}

function Facts({ record }: { readonly record: RecordEntry }): ReactNode {
  const facts: readonly (readonly [string, string])[] = [
    ['Received', printTime(record.queuedAt)],
    ['Time', record.durationMs === null ? '–' : printMs(record.durationMs)],
    ['Rows', printCount(record.rowsProduced)],
    ['Read', printBytes(record.bytesScanned)],
    ['Group', record.resourceGroup],
    ['Kind', record.queryType],
    ['Compute units', record.cuConsumed.toPrecision(3)],
  ];
  return (
    <dl className="tiles">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The text, with the error at its place. */
function Statement({ sql, error }: { readonly sql: string; readonly error: string | null }): ReactNode {
  const place = error === null ? null : errorPlace({ message: error }, sql);
  const end = place === null ? 0 : place + (/^[\w"$]+/.exec(sql.slice(place))?.[0].length ?? 1);
  return (
    <>
      <pre tabIndex={0} aria-label="Statement">
        {place === null ? (
          sql
        ) : (
          <>
            {sql.slice(0, place)}
            <mark>{sql.slice(place, end)}</mark>
            {sql.slice(end)}
          </>
        )}
      </pre>
      {error === null ? null : <div role="alert">{error}</div>}
    </>
  );
}

function Profile({ profile }: { readonly profile: QueryProfileEntry }): ReactNode {
  const { workload, queries = [] } = profile;
  const found = findings(profile);
  return (
    <>
      <h2>Findings</h2>
      {found.length === 0 ? (
        <p className="quiet">Nothing stands out.</p>
      ) : (
        <ul className="findings">
          {found.map(({ rule, text }) => (
            <li key={rule + text}>{text}</li>
          ))}
        </ul>
      )}
      {workload === undefined ? null : (
        <p>
          Class <strong>{workload.class ?? 'not known yet'}</strong>
          {workload.reasons.length > 0 ? ` (${workload.reasons.join(', ')})` : ''}, group {workload.resourceGroup},
          priority {workload.priority}
        </p>
      )}
      {queries.map((run, at) => (
        <Run
          key={at}
          run={run}
          title={queries.length > 1 ? `Query ${at + 1} of the statement` : 'Time'}
          profile={profile}
        />
      ))}
    </>
  );
}

type RunProps = { readonly run: QueryRunProfile; readonly title: string; readonly profile: QueryProfileEntry };

function Run({ run, title, profile }: RunProps): ReactNode {
  const [view, setView] = useState<(typeof VIEWS)[number]>('graph');
  const [chosen, choose] = useState<number | null>(null);
  const phases: readonly (readonly [string, number])[] = [
    ['plan', run.planMs],
    ['wait', run.queuedMs],
    ['distribute', run.distributeMs],
    ['run', run.runMs],
  ];
  const all = Math.max(
    1,
    phases.reduce((sum, [, ms]) => sum + ms, 0),
  );
  const stage = run.stages.find((one) => one.stage === chosen);
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <ul className="phases">
        {phases.map(([name, ms]) => (
          <li
            key={name}
            className={name}
            style={{ flexGrow: Math.max(0.02, ms / all) }}
            title={`${name}: ${printMs(ms)}`}
          >
            {name} {printMs(ms)}
          </li>
        ))}
      </ul>
      {run.reason === null ? null : <p className="quiet">It ran whole, on one worker: {run.reason}</p>}
      <TimeLine run={run} />
      <div className="bar" role="group" aria-label="View of the plan">
        {VIEWS.map((one) => (
          <button key={one} type="button" aria-pressed={one === view} onClick={() => setView(one)}>
            {one}
          </button>
        ))}
      </div>
      {view === 'graph' ? (
        <div className="graph-and-details">
          <Suspense fallback={<p role="status">Loading …</p>}>
            <StageGraph run={run} chosen={chosen} onChoose={choose} />
          </Suspense>
          {stage === undefined ? (
            <p className="quiet">A click on a stage shows its figures.</p>
          ) : (
            <StageFacts stage={stage} />
          )}
        </div>
      ) : null}
      {view === 'operators' ? <Operators run={run} /> : null}
      {view === 'table' ? <StageTable stages={run.stages} /> : null}
      {view === 'plan' ? (
        <pre tabIndex={0} aria-label="EXPLAIN">
          {run.plan.join('\n')}
        </pre>
      ) : null}
      {view === 'JSON' ? (
        <pre tabIndex={0} aria-label="Profile">
          {JSON.stringify(profile, null, 2)}
        </pre>
      ) : null}
    </section>
  );
}

/** The operators, weighed by the time of their stages. A profile of an older release has none. */
function Operators({ run: { planTree, stages } }: { readonly run: QueryRunProfile }): ReactNode {
  const stageMs = useMemo(() => new Map(stages.map(({ stage, scheduledMs }) => [stage, scheduledMs])), [stages]);
  if (planTree === null || planTree === undefined) return <p className="quiet">The plan of this query is not kept.</p>;
  return (
    <Suspense fallback={<p role="status">Loading …</p>}>
      <PlanGraph plan={planTree} stageMs={stageMs} />
    </Suspense>
  );
}

const COLUMNS: readonly (readonly [string, (stage: StageProfile) => string])[] = [
  ['Stage', ({ stage }) => String(stage)],
  ['State', ({ state }) => state],
  [
    'Reads',
    ({ scans, inputs }) =>
      [...scans.map(({ table }) => table), ...inputs.map(({ stage }) => `stage ${stage}`)].join(', '),
  ],
  ['Tasks', ({ tasksDone, tasksKnown }) => `${tasksDone} of ${tasksKnown}`],
  ['Rows', ({ rows }) => printCount(rows)],
  ['Expected', ({ estimatedRows }) => (estimatedRows === null ? '–' : printCount(estimatedRows))],
  ['Time on cores', ({ scheduledMs }) => printMs(scheduledMs)],
  ['Elapsed', ({ elapsedMs }) => printMs(elapsedMs)],
  ['Memory', ({ peakMemoryBytes }) => printBytes(peakMemoryBytes)],
  ['Spilled', ({ spilledBytes }) => printBytes(spilledBytes)],
  ['Read', ({ bytesScanned }) => printBytes(bytesScanned)],
  [
    'Pruned files',
    ({ scans }) =>
      scans.map(({ filesPruned, files }) => (files === undefined ? '–' : `${filesPruned ?? 0} of ${files}`)).join(', '),
  ],
];

function StageTable({ stages }: { readonly stages: readonly StageProfile[] }): ReactNode {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Stages">
      <table>
        <thead>
          <tr>
            {COLUMNS.map(([title]) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {stages.map((stage) => (
            <tr key={stage.stage}>
              {COLUMNS.map(([title, print]) => (
                <td key={title}>{print(stage)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function StageFacts({ stage }: { readonly stage: StageProfile }): ReactNode {
  return (
    <dl className="facts" aria-label="Stage">
      {COLUMNS.map(([title, print]) => (
        <div key={title} className="fact">
          <dt>{title}</dt>
          <dd>{print(stage)}</dd>
        </div>
      ))}
      <div className="fact">
        <dt>Output</dt>
        <dd>
          {stage.output} {stage.reason}
        </dd>
      </div>
    </dl>
  );
}
