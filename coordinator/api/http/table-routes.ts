import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { requireAction, type Caller } from '../../auth/authenticate.ts';
import type { TableEntry } from '../../catalog-client/catalog-browser.ts';
import type { Pages } from '../../catalog-client/pages.ts';
import type { SessionKey } from '../../session/session-store.ts';
import type { DocumentedApp } from './documented-app.ts';
import { DESCRIBE_TABLE, LIST_TABLES } from './operations.ts';
import { sessionKey } from './post-query.ts';
import type { TableApi } from './table-api.ts';

type Options = {
  readonly tables: TableApi;
  /** @throws UNAUTHENTICATED */
  readonly onRequest: (request: FastifyRequest) => Promise<void>;
  readonly callerOf: (request: FastifyRequest) => Caller;
};

/** Routes of the tables that a caller may see: their list, and the description of one. */
export function tableRoutes(app: DocumentedApp, { tables, onRequest, callerOf }: Options): void {
  const session = (request: FastifyRequest): SessionKey => sessionKey(request, callerOf(request));
  app.get('/api/tables', { schema: LIST_TABLES, onRequest }, async (request, reply) => {
    requireAction(callerOf(request), 'schema.list');
    requireAction(callerOf(request), 'table.list');
    const text = tableListText(tables.list(callerOf(request), session(request)));
    // The first page is awaited before any byte is sent, so that errors of the request keep their status.
    const first = await text.next();
    const rest = Readable.from(
      (async function* () {
        yield first.value;
        yield* text;
      })(),
    );
    return reply.type('application/json; charset=utf-8').send(rest);
  });
  const table = '/api/catalogs/:catalog/namespaces/:namespace/tables/:table';
  app.get(table, { schema: DESCRIBE_TABLE, onRequest }, (request) => {
    requireAction(callerOf(request), 'table.describe');
    return tables.describe(callerOf(request), request.params);
  });
}

/** Prints `{"tables": [...]}` page by page, so that a long list does not block other requests. */
async function* tableListText(pages: Pages<TableEntry>): AsyncGenerator<string, void> {
  let separator = '{"tables":[';
  for await (const tables of pages) {
    if (tables.length === 0) continue;
    yield separator + tables.map((table) => JSON.stringify(table)).join(',');
    separator = ',';
  }
  yield separator === ',' ? ']}' : `${separator}]}`;
}
