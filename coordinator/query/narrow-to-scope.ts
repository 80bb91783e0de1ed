import type { PreparedQuery } from '../binding/prepared-query.ts';
import type { QueryScope } from '../operation/refresh-request.ts';

/** The query with those files of its tables that the scope has. */
export function narrowToScope(query: PreparedQuery, scope: QueryScope | undefined): PreparedQuery {
  if (scope?.since === undefined) return query;
  const { tableUuid, sequenceNumber: addedAfter } = scope.since;
  const scans = query.scans.map((scan) =>
    scan.kind === 'iceberg' && scan.tableUuid === tableUuid ? { ...scan, addedAfter } : scan,
  );
  return { ...query, scans };
}
