import type { AdministerApi } from '#coordinator/api/administer/administer-routes.ts';
import { documentedApp, type DocumentedApp } from '#coordinator/api/http/documented-app.ts';
import { sendError } from '#coordinator/api/http/error-reply.ts';
import type { Caller } from '#coordinator/auth/authenticate.ts';
import { DEFAULT_WORKLOAD } from '#coordinator/workload/workload.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { ApiDocument } from './api-document.ts';
import { callerOf } from './api-fixtures.ts';
import { allowing } from './decisions.ts';

/** The operations that `coordinator/api/administer/administer-routes.test.ts` compares with the OpenAPI document. */
export const ADMINISTER_OPERATIONS: readonly string[] = ['listPrincipals', 'readAudit', 'routeWorkload'];

/** Nobody, and the workload that there is without a file. */
export const NO_PRINCIPALS: AdministerApi = {
  principals: { runPrincipalStatement: () => Promise.resolve({ columns: [], rows: [], next: null }) },
  workload: () => DEFAULT_WORKLOAD,
};

type Parts = {
  readonly onRequest: () => Promise<void>;
  readonly callerOf: (request: { readonly headers: { readonly authorization?: string | undefined } }) => Caller;
};
type Asked = { readonly method?: 'GET' | 'POST'; readonly as?: string; readonly body?: string };
type Answer = { readonly operation: string; readonly status: number; readonly type: string; readonly text: string };

/** A server of some routes, whose answers are compared with its OpenAPI document. `authorization` is the name of a caller. */
export class DocumentedRoutes implements AsyncDisposable {
  readonly #app: DocumentedApp;
  #document: ApiDocument | undefined;

  constructor(callers: Readonly<Record<string, Caller>>, add: (app: DocumentedApp, parts: Parts) => void) {
    this.#app = documentedApp({});
    this.#app.decorateRequest('caller', null);
    this.#app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    );
    this.#app.setErrorHandler((error, request, reply) =>
      sendError(reply, error, silentLogger, request.method === 'GET'),
    );
    const nobody = callerOf('t', 'nobody', allowing());
    void this.#app.register((routes, _options, done) => {
      add(routes, {
        onRequest: () => Promise.resolve(),
        callerOf: ({ headers }) => callers[headers.authorization ?? ''] ?? nobody,
      });
      done();
    });
  }

  /** @throws Error with everything that differs from the document */
  async ask(url: string, { method = 'GET', as = 'good', body }: Asked = {}): Promise<Answer> {
    await this.#app.ready();
    this.#document ??= new ApiDocument(this.#app.swagger());
    const answer = await this.#app.inject({
      method,
      url,
      headers: { authorization: as, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { payload: body }),
    });
    const headers = new Headers(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]));
    const told = { method, path: url, status: answer.statusCode, headers, text: answer.payload };
    const operation = this.#document.check(told) ?? 'none';
    return { operation, status: answer.statusCode, type: headers.get('content-type') ?? '', text: answer.payload };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#app.close();
  }
}
