import type { FastifyRequest } from 'fastify';
import type { Caller } from '../../auth/authenticate.ts';
import type { Inspector } from '../../inspect/inspector.ts';
import type { DocumentedApp } from '../http/documented-app.ts';
import {
  DROPPED_DEFAULT,
  DROPPED_TABLES,
  SNAPSHOTS_DEFAULT,
  TABLE_CHANGES,
  TABLE_DETAILS,
  TABLE_FILES,
  TABLE_HEALTH,
  TABLE_SNAPSHOTS,
  VIEW_VERSIONS,
} from './inspect-operations.ts';

type Parts = {
  readonly inspector: Inspector;
  readonly onRequest: (request: FastifyRequest) => Promise<void>;
  readonly callerOf: (request: FastifyRequest) => Caller;
};

/** Longest that files are read for an answer. */
const READ_MS_MAX = 30_000;

/** Routes of the pages about tables and views. */
export function inspectRoutes(app: DocumentedApp, { inspector, onRequest, callerOf }: Parts): void {
  const asked = (request: FastifyRequest): { readonly caller: Caller; readonly signal: AbortSignal } => ({
    caller: callerOf(request),
    signal: AbortSignal.timeout(READ_MS_MAX),
  });
  const namespace = '/api/catalogs/:catalog/namespaces/:namespace';
  const table = `${namespace}/tables/:table`;
  app.get(`${table}/details`, { schema: TABLE_DETAILS, onRequest }, (request) =>
    inspector.details(request.params, asked(request)),
  );
  app.get(`${table}/snapshots`, { schema: TABLE_SNAPSHOTS, onRequest }, (request) => {
    const { page_token: pageToken, limit = SNAPSHOTS_DEFAULT, fold } = request.query;
    return inspector.snapshots(request.params, { pageToken, limit, isFolded: fold === 'true' }, asked(request));
  });
  app.get(`${table}/changes`, { schema: TABLE_CHANGES, onRequest }, (request) =>
    inspector.changes(request.params, request.query, asked(request)),
  );
  app.get(`${table}/files`, { schema: TABLE_FILES, onRequest }, (request) =>
    inspector.files(request.params, request.query.ref, asked(request)),
  );
  app.get(`${table}/health`, { schema: TABLE_HEALTH, onRequest }, (request) =>
    inspector.health(request.params, asked(request)),
  );
  app.get('/api/catalogs/:catalog/dropped-tables', { schema: DROPPED_TABLES, onRequest }, (request) => {
    const { after, limit = DROPPED_DEFAULT } = request.query;
    return inspector.dropped(request.params.catalog, { after, limit }, asked(request));
  });
  app.get(`${namespace}/views/:view`, { schema: VIEW_VERSIONS, onRequest }, (request) => {
    const { view, ...place } = request.params;
    return inspector.view({ ...place, table: view }, asked(request));
  });
}
