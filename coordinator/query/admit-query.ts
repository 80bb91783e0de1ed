import { parseBytes } from '#shared/config/parse-setting.ts';
import { SkeinError } from '#shared/error.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import type { QueryRun } from '../scheduler/one-run.ts';
import { ownValue, setting, statementTimeoutMs } from '../session/session.ts';
import type { AdmissionRequest, Place } from '../workload/admission.ts';
import { PRIORITY_HIGH, WORK_CLASSES, type WorkClass } from '../workload/work-class.ts';
import { classifyQuery } from './classify-query.ts';
import { describePlan } from './describe-plan.ts';
import { routedStatement } from './routed-statement.ts';
import type { RunningStatement } from './running-statement.ts';

/** A query that is to be admitted. */
type AskingQuery = RunningStatement & { readonly query: PreparedQuery };

/** Classifies the query, waits for its place, and begins its time. */
export async function admitQuery(asking: AskingQuery): Promise<Place> {
  const { services, request, active, session, query } = asking;
  const { signal } = active;
  active.profile.planned(describePlan(query, active));
  const { tenant } = request.caller.claims;
  const { config, scheduler } = services;
  const options = { setting: setting(session, 'service.workload_class', config) };
  const classification = await classifyQuery(query, options, { tables: services.tables, tenant, signal });
  active.describe({ classification });
  const place: Place = await admitted(asking, classification.workClass, {
    statement: routedStatement(asking, active.queryType),
    classification,
    memoryLimitBytes: sessionMemory(asking) * Math.max(1, scheduler.pool.liveCount()),
    signal,
    onRouted: ({ resourceGroup, priority, waiting }) => {
      active.describe({ resourceGroup, priority });
      active.followQueue(waiting);
      if (waiting() !== null) services.onChanged(active);
    },
    onReclassified: (to) => {
      services.log.info({ queryId: request.queryId, class: to.classification.workClass }, 'a query has another class');
      services.metrics.reclassified((active.classification ?? classification).workClass, to.classification.workClass);
      active.describe({ classification: to.classification, priority: to.priority });
      services.onChanged(active);
      limitRun(asking, place);
    },
  });
  // A file that changed meanwhile may have moved it.
  active.describe({ resourceGroup: place.resourceGroup });
  active.started();
  limitRun(asking, place);
  return place;
}

/** Waits for a place, and counts how that ended. @throws as `Admission.admit` */
async function admitted(
  { services: { admission, clock, metrics }, active }: AskingQuery,
  workClass: WorkClass,
  request: AdmissionRequest,
): Promise<Place> {
  const askedMs = clock.monotonicMs();
  try {
    const place = await admission.admit(request);
    metrics.admission(workClass, 'admitted', clock.monotonicMs() - askedMs);
    return place;
  } catch (error) {
    const isRefused = SkeinError.of(error).code === 'QUEUE_FULL';
    metrics.admission(workClass, isRefused ? 'refused' : 'left', clock.monotonicMs() - askedMs);
    throw error;
  } finally {
    active.profile.waited(clock.monotonicMs() - askedMs);
  }
}

/** Gives the query the timeout of its class; a timeout that the request or the session has set can only shorten it. */
function limitRun({ request, active, session, services }: AskingQuery, { limits, workClass }: Place): void {
  const isOwn =
    ownValue(session, 'skein.query_timeout') !== undefined ||
    statementTimeoutMs(session, services.config) !== undefined;
  const isDefault = request.timeoutMs === undefined && !isOwn;
  active.limitRun(limits.timeoutMs, workClass, isDefault);
}

/** The consequences of a query's place and class for its run. */
export function runLimits(
  asking: AskingQuery,
  place: Place,
): Pick<QueryRun, 'memoryLimitBytes' | 'growMemory' | 'onWork' | 'isPinned' | 'killRank' | 'deadlineMs'> {
  const { services, active } = asking;
  return {
    memoryLimitBytes: sessionMemory(asking),
    growMemory: (wantedBytes) => place.grow(wantedBytes),
    onWork: (done) => place.worked(done),
    isPinned: () => place.priority >= PRIORITY_HIGH,
    killRank: () =>
      services.config['coordinator.memory_killer'] === 'largest'
        ? null
        : { classRank: WORK_CLASSES.indexOf(place.workClass), arrivedAtMs: active.state.queuedAtMs },
    deadlineMs: services.clock.nowMs() + Math.min(active.leftMs(), place.timeoutMsMax),
  };
}

/** Memory that the session allows the query on each worker. */
const sessionMemory = ({ session, services }: AskingQuery): number =>
  parseBytes(setting(session, 'skein.query_memory_limit', services.config));
