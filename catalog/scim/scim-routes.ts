import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { checkJson } from '#shared/check-json.ts';
import { SkeinError } from '#shared/error.ts';
import { peerOf } from '#shared/newcomers/newcomers.ts';
import { printJson, type Json, type JsonObject } from '#shared/json.ts';
import type { CatalogContext } from '../context.ts';
import { toCatalogError } from '../store/postgres/errors.ts';
import { forAddress, onBehalfOf } from '../store/postgres/on-behalf-of.ts';
import { RESOURCE_TYPES, SCHEMAS, SERVICE_PROVIDER } from './descriptions.ts';
import {
  createGroup,
  deleteGroup,
  getGroup,
  GROUP_FILTERS,
  listGroups,
  patchGroup,
  printGroup,
  replaceGroup,
  type ScimGroup,
} from './groups.ts';
import { parseFilter } from './parse-filter.ts';
import { notFound, scimCallOf, tagOf, type ScimCall } from './scim-call.ts';
import { ScimError, scimErrorBody } from './scim-error.ts';
import {
  createScimUser,
  deleteUser,
  getUser,
  listUsers,
  patchUser,
  printUser,
  replaceUser,
  USER_FILTERS,
} from './users.ts';
import type { ScimUserRow } from '../store/postgres/scim-store.ts';

const BODY_BYTES_MAX = 2 * 1_048_576;
const VALUES_MAX = 200_000;
const COUNT = 100;
const COUNT_MAX = 200;
/** Resources behind it are found by a filter. */
const START_MAX = 1_000_000;
const TYPE = 'application/scim+json; charset=utf-8';

declare module 'fastify' {
  interface FastifyRequest {
    /** The provider that sends the request; only requests of SCIM have it. */
    scim: ScimCall | undefined;
  }
}

const callOf = ({ scim }: FastifyRequest): ScimCall => {
  if (scim === undefined) throw new ScimError(401, 'the token is not valid');
  return scim;
};
const idOf = ({ params }: FastifyRequest): string => (params as { readonly id: string }).id;
const bodyOf = ({ body }: FastifyRequest): Json => body as Json;
const ifMatchOf = ({ headers }: FastifyRequest): string | undefined => headers['if-match'];

/** `/scim/v2` (RFC 7643, RFC 7644): users and groups of an identity provider, by its token. */
export async function scimRoutes(app: FastifyInstance, context: CatalogContext): Promise<void> {
  app.removeAllContentTypeParsers();
  app.decorateRequest('scim', undefined);
  app.addContentTypeParser(
    ['application/json', 'application/scim+json'],
    { parseAs: 'string', bodyLimit: BODY_BYTES_MAX },
    (_request, text, done) => {
      try {
        checkJson(String(text), VALUES_MAX);
        done(null, JSON.parse(String(text)));
      } catch (cause) {
        done(new ScimError(400, 'the body is no JSON', { type: 'invalidSyntax', cause }));
      }
    },
  );
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('cache-control', 'no-store');
    const base = `${originOf(context, request)}/scim/v2`;
    const { authorization } = request.headers;
    const { ip: address } = request;
    request.scim = await forAddress(address, () => scimCallOf(context, { authorization, address, base }));
    context.newcomers.signedIn(peerOf(request.socket));
  });
  app.addHook('preHandler', (request, _reply, done) => {
    const { provider } = callOf(request);
    onBehalfOf({ tenant: provider.tenant, principal: provider.id }, done);
  });
  app.setErrorHandler((error, _request, reply) => sendError(context, reply, error));
  app.get('/scim/v2/ServiceProviderConfig', (_request, reply) => send(reply, SERVICE_PROVIDER));
  described(app, 'ResourceTypes', RESOURCE_TYPES);
  described(app, 'Schemas', SCHEMAS);
  users(app);
  groups(app);
  // All else is refused in SCIM's own form, too, and to nobody without a token.
  for (const url of ['/scim/v2', '/scim/v2/*']) app.all(url, () => refuseUnserved());
}

/** @throws ScimError 404 */
function refuseUnserved(): never {
  throw new ScimError(404, 'there is no such endpoint, or not for this method');
}

/** A list of what there is, and each of it by its id (RFC 7644, 4). */
function described(
  app: FastifyInstance,
  name: 'ResourceTypes' | 'Schemas',
  all: (base: string) => readonly JsonObject[],
): void {
  app.get(`/scim/v2/${name}`, (request, reply) => send(reply, listed(all(callOf(request).base))));
  app.get(`/scim/v2/${name}/:id`, (request, reply) => {
    const one = all(callOf(request).base).find(({ id }) => id === idOf(request));
    if (one === undefined) throw notFound();
    return send(reply, one);
  });
}

function users(app: FastifyInstance): void {
  const one = (request: FastifyRequest, reply: FastifyReply, row: ScimUserRow, status = 200): FastifyReply => {
    const user = printUser(callOf(request), row);
    if (status === 201) void reply.header('location', `${callOf(request).base}/Users/${row.id}`);
    return send(reply.header('etag', tagOf(row.version)), user, status);
  };
  app.get('/scim/v2/Users', async (request, reply) => {
    const page = pageOf(request);
    const call = callOf(request);
    const { rows, total } = await listUsers(call, filterOf(request, USER_FILTERS), page);
    return send(
      reply,
      answered(
        rows.map((row) => printUser(call, row)),
        total,
        page.offset,
      ),
    );
  });
  app.post('/scim/v2/Users', async (request, reply) =>
    one(request, reply, await createScimUser(callOf(request), bodyOf(request)), 201),
  );
  app.get('/scim/v2/Users/:id', async (request, reply) =>
    one(request, reply, await getUser(callOf(request), idOf(request))),
  );
  app.put('/scim/v2/Users/:id', async (request, reply) =>
    one(request, reply, await replaceUser(callOf(request), idOf(request), bodyOf(request), ifMatchOf(request))),
  );
  app.patch('/scim/v2/Users/:id', async (request, reply) =>
    one(request, reply, await patchUser(callOf(request), idOf(request), bodyOf(request), ifMatchOf(request))),
  );
  app.delete('/scim/v2/Users/:id', async (request, reply) => {
    await deleteUser(callOf(request), idOf(request), ifMatchOf(request));
    return reply.code(204).send();
  });
}

function groups(app: FastifyInstance): void {
  const one = (request: FastifyRequest, reply: FastifyReply, group: ScimGroup, status = 200): FastifyReply => {
    if (status === 201) void reply.header('location', `${callOf(request).base}/Groups/${group.id}`);
    return send(reply.header('etag', tagOf(group.version)), printGroup(callOf(request), group), status);
  };
  app.get('/scim/v2/Groups', async (request, reply) => {
    const page = pageOf(request);
    const call = callOf(request);
    const isWhole = !textOf(request, 'excludedAttributes').toLowerCase().split(',').includes('members');
    const { rows, total } = await listGroups(call, filterOf(request, GROUP_FILTERS), page, isWhole);
    return send(
      reply,
      answered(
        rows.map((row) => printGroup(call, row, isWhole)),
        total,
        page.offset,
      ),
    );
  });
  app.post('/scim/v2/Groups', async (request, reply) =>
    one(request, reply, await createGroup(callOf(request), bodyOf(request)), 201),
  );
  app.get('/scim/v2/Groups/:id', async (request, reply) =>
    one(request, reply, await getGroup(callOf(request), idOf(request))),
  );
  app.put('/scim/v2/Groups/:id', async (request, reply) =>
    one(request, reply, await replaceGroup(callOf(request), idOf(request), bodyOf(request), ifMatchOf(request))),
  );
  app.patch('/scim/v2/Groups/:id', async (request, reply) =>
    one(request, reply, await patchGroup(callOf(request), idOf(request), bodyOf(request), ifMatchOf(request))),
  );
  app.delete('/scim/v2/Groups/:id', async (request, reply) => {
    await deleteGroup(callOf(request), idOf(request), ifMatchOf(request));
    return reply.code(204).send();
  });
}

function textOf({ query }: FastifyRequest, name: string): string {
  const value = (query as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' ? value : '';
}

function filterOf(request: FastifyRequest, attributes: readonly string[]): ReturnType<typeof parseFilter> {
  const text = textOf(request, 'filter');
  return text === '' ? [] : parseFilter(text, attributes);
}

/** `startIndex` from 1, `count` from 0 (RFC 7644, 3.4.2.4); what is no number is the default. */
function pageOf(request: FastifyRequest): { readonly offset: number; readonly count: number } {
  const numberOf = (name: string, otherwise: number): number => {
    const text = textOf(request, name);
    return /^-?\d{1,9}$/.test(text) ? Number(text) : otherwise;
  };
  const start = Math.min(START_MAX, Math.max(1, numberOf('startIndex', 1)));
  return { offset: start - 1, count: Math.min(COUNT_MAX, Math.max(0, numberOf('count', COUNT))) };
}

const answered = (resources: readonly JsonObject[], total: number, offset: number): JsonObject => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
  totalResults: total,
  startIndex: offset + 1,
  itemsPerPage: resources.length,
  Resources: resources,
});
const listed = (resources: readonly JsonObject[]): JsonObject => answered(resources, resources.length, 0);

function originOf({ config }: CatalogContext, { protocol, host }: FastifyRequest): string {
  const known = config['catalog.public_url'];
  return known === '' ? `${protocol}://${host}` : known.replace(/\/$/, '');
}

const send = (reply: FastifyReply, body: JsonObject, status = 200): FastifyReply =>
  reply.code(status).type(TYPE).send(printJson(body));

function sendError(context: CatalogContext, reply: FastifyReply, thrown: unknown): FastifyReply {
  const error = thrown instanceof ScimError ? thrown : scimErrorOf(thrown);
  if (error.status >= 500)
    context.log.error({ err: thrown, url: reply.request.url.split('?')[0] }, 'a request of SCIM failed');
  return reply
    .code(error.status)
    .headers({ ...error.headers })
    .type(TYPE)
    .send(scimErrorBody(error));
}

function scimErrorOf(thrown: unknown): ScimError {
  const { code, statusCode = 500 } = thrown as { readonly code?: unknown; readonly statusCode?: number };
  if (typeof code === 'string' && code.startsWith('FST_') && statusCode < 500)
    return new ScimError(statusCode, 'the request is not valid', { type: 'invalidSyntax' });
  const error = thrown instanceof SkeinError ? thrown : toCatalogError(thrown);
  const status = error.entry.http;
  return new ScimError(
    status,
    status >= 500 ? 'try again' : error.message,
    status === 503 ? { headers: { 'retry-after': '1' } } : {},
  );
}
