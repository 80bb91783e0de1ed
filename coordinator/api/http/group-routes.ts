import type { FastifyRequest } from 'fastify';
import { SkeinError } from '#shared/error.ts';
import type { Caller } from '../../auth/authenticate.ts';
import type { ClusterView } from '../../observe/cluster-view.ts';
import { groupEntry, groupStats, queueStats } from '../../observe/entries.ts';
import type { QosStats, ResourceGroupEntry, ResourceGroupPage } from './api-types.ts';
import type { DocumentedApp } from './documented-app.ts';
import { GET_GROUP, LIST_GROUPS, PAGE_DEFAULT, QOS_STATS } from './observe-operations.ts';

type Options = {
  readonly view: Pick<ClusterView, 'groups' | 'feedbackQueue'>;
  /** @throws UNAUTHENTICATED */
  readonly onRequest: (request: FastifyRequest) => Promise<void>;
  readonly callerOf: (request: FastifyRequest) => Caller;
};

/** Longest path that an error repeats. */
const SHOWN_PATH_MAX = 200;

/** The routes of the resource groups: a page of them, one, and all beside the feedback queue. */
export function groupRoutes(app: DocumentedApp, { view, onRequest, callerOf }: Options): void {
  app.get('/api/resource-groups', { schema: LIST_GROUPS, onRequest }, (request): ResourceGroupPage => {
    const { limit = PAGE_DEFAULT, offset = 0 } = request.query;
    const groups = view.groups(callerOf(request));
    return { resource_groups: groups.slice(offset, offset + limit).map(groupEntry), total: groups.length };
  });
  app.get('/api/resource-groups/:path', { schema: GET_GROUP, onRequest }, (request): ResourceGroupEntry => {
    const { path } = request.params;
    const found = view.groups(callerOf(request)).find((group) => group.path === path);
    if (found === undefined)
      throw new SkeinError('NOT_FOUND', `no resource group is called ${path.slice(0, SHOWN_PATH_MAX)}`);
    return groupEntry(found);
  });
  app.get('/api/qos/stats', { schema: QOS_STATS, onRequest }, (request): QosStats => {
    return { resource_groups: view.groups(callerOf(request)).map(groupStats), mlfq: queueStats(view.feedbackQueue()) };
  });
}
