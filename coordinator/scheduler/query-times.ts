import type { QueryId } from '#shared/id.ts';
import type { LinkOptions } from '../cluster/worker-link.ts';
import { endUnknown, type HeldEpochs } from './end-unknown.ts';
import type { TimedRun } from './scheduler.ts';

/**
 * The part of the heartbeats that concerns queries. Workers tell what they hold of each and the time that its tasks have had so far; they
 * are told what the query has had on all of them, so that its running tasks sink to the level of that. Keys that tasks want
 * are sent. What no query of this coordinator
 * runs is ended.
 */
export function queryTimes(
  options: Omit<HeldEpochs, 'running'> & { readonly running: ReadonlyMap<QueryId, TimedRun> },
): Required<Pick<LinkOptions, 'onBeat' | 'levels'>> {
  const { running } = options;
  const end = endUnknown(options);
  return {
    onBeat: (link, info) => {
      for (const { queryId, taskId, ...costs } of info.tasks) running.get(queryId)?.timed(taskId, costs);
      for (const { queryId, credentialId } of info.wantedKeys) running.get(queryId)?.keys.wanted(info.id, credentialId);
      end(link, info);
    },
    levels: (queryIds) =>
      queryIds.flatMap((queryId) => {
        const run = running.get(queryId);
        return run === undefined ? [] : [{ queryId, scheduledMs: run.scheduledMs, isPinned: run.isPinned }];
      }),
  };
}
