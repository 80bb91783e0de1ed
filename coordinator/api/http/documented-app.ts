import swagger from '@fastify/swagger';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyRequest,
  type FastifySchemaValidationError,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
  type RouteOptions,
} from 'fastify';
import type { Server } from 'node:http';
import { Type, type TObject, type TSchema } from 'typebox';
import { SkeinError } from '#shared/error.ts';
import type { DoorTls } from '#shared/grpc/door-tls.ts';
import { httpsServer } from '#shared/grpc/https-server.ts';
import { isUuid } from '#shared/id.ts';
import { COMPONENTS } from './api-types.ts';
import { HEADER_RULES, type ParsedBody } from './operations.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The schema of a body that the route checks itself. */
    readonly parsedBody?: TSchema;
    /** A page for people, which the document does not have. */
    readonly isPage?: true;
  }
}

/** A server whose routes have schemas in TypeBox: their types, the checks of requests and the OpenAPI document come from them. */
export type DocumentedApp = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** Builds a server without routes. Adding a route that the document would not have throws. */
export function documentedApp(options: FastifyHttpOptions<Server>, tls?: DoorTls): DocumentedApp {
  const secure: FastifyHttpOptions<Server> =
    tls === undefined ? options : { ...options, serverFactory: (listener) => httpsServer(tls, listener, options) };
  const app = Fastify({
    ...secure,
    // A request that comes on an open connection while the server closes is answered as ever (NOT_ACTIVE), not by the framework's own 503.
    return503OnClosing: false,
    ajv: {
      // Validation never changes a request.
      customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false },
      onCreate: (ajv) => void ajv.addFormat('uuid', isUuid),
    },
    schemaErrorFormatter: ([error]) => invalidRequest(error),
  }).withTypeProvider<TypeBoxTypeProvider>();
  // Tests compare answers with the document; a serializer made from it could change answers at run time.
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer));
  for (const [name, schema] of Object.entries(COMPONENTS)) app.addSchema({ $id: name, ...schema });
  app.addHook('onRoute', mustBeDocumented);
  app.addHook('preValidation', readNumbers);
  void app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Skein query API', version: '1', description: 'SQL over Iceberg tables.' },
      security: [{ bearer: [] }],
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
    },
    convertConstToEnum: false,
    transform: ({ schema, url, route }) => {
      const { parsedBody } = (route.config ?? {}) as Partial<ParsedBody>;
      return { url, schema: parsedBody === undefined ? schema : { ...schema, body: parsedBody } };
    },
    refResolver: {
      buildLocalReference: ({ $id }, _base, _fragment, i) => (typeof $id === 'string' ? $id : `def-${i}`),
    },
  });
  return app;
}

function mustBeDocumented({ method, url, schema, config }: RouteOptions): void {
  if (schema !== undefined && 'operationId' in schema) return;
  if (config?.isPage === true) return;
  throw new Error(`the OpenAPI document has no ${[method].flat().join()} ${url.replaceAll(/:(\w+)/g, '{$1}')}`);
}

/** Parameters of a URL are text: those that the schema has as integers become numbers, if they are written as such. */
async function readNumbers(request: FastifyRequest): Promise<void> {
  const { querystring } = (request.routeOptions.schema ?? {}) as { readonly querystring?: TObject };
  const query = request.query as Record<string, unknown>;
  for (const [name, schema] of Object.entries(querystring?.properties ?? {})) {
    const value = query[name];
    if (Type.IsInteger(schema) && typeof value === 'string' && /^\d{1,9}$/.test(value)) query[name] = Number(value);
  }
}

function invalidRequest(error: FastifySchemaValidationError | undefined): SkeinError {
  const { instancePath = '', message = 'is wrong', params = {} } = error ?? {};
  const name = instancePath.slice(1);
  const { allowedValues } = params;
  const values = Array.isArray(allowedValues) ? `: ${allowedValues.join(', ')}` : '';
  return new SkeinError('INVALID_REQUEST', HEADER_RULES[name] ?? `${name} ${message}${values}`);
}
