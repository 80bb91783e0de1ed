import {
  Server,
  ServerCredentials,
  type handleUnaryCall,
  type sendUnaryData,
  type ServerUnaryCall,
} from '@grpc/grpc-js';
import { requireSecret, toServiceError } from '#shared/grpc/internal-auth.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { SkeinError } from '#shared/error.ts';
import type { CatalogContext } from '../context.ts';
import { toCatalogError } from '../store/postgres/errors.ts';
import {
  alterCatalog,
  createCatalog,
  createTenant,
  describeCatalogs,
  dropCatalog,
  dropTenant,
  listTenants,
} from './administration.ts';
import { createClient, dropClient, listClients, rotateClient } from './clients.ts';
import { listJobs, retryJobs } from './jobs.ts';
import { listCatalogs, listNamespaces, listTables } from './lists.ts';
import { TableLoader, type LoadTablesRequest } from './table-loader.ts';
import { mintToken } from './mint-token.ts';
import { watchEpochs } from './watch-epochs.ts';

/** Largest answer: the metadata of all tables of one statement. */
const MESSAGE_BYTES_MAX = 1024 * 1024 * 1024;

type Unary<Request, Reply> = (context: CatalogContext, request: Request) => Promise<Reply>;

/** The calls of `proto/catalog.proto`, bound to a port of `catalog.internal_port`; the caller closes it. */
export async function startInternalServer(context: CatalogContext): Promise<{ server: Server; address: string }> {
  const { config } = context;
  const server = new Server({ 'grpc.max_send_message_length': MESSAGE_BYTES_MAX });
  const loader = new TableLoader(context.store.pool);
  const { definition } = loadService('catalog.proto', 'skein.catalog.v1.CatalogInternal');
  server.addService(definition, {
    LoadTables: unary(context, (_context, request: LoadTablesRequest) => loader.load(request)),
    ListCatalogs: unary(context, listCatalogs),
    ListNamespaces: unary(context, listNamespaces),
    ListTables: unary(context, listTables),
    WatchEpochs: watchEpochs(context),
    MintToken: unary(context, mintToken),
    CreateClient: unary(context, createClient),
    RotateClient: unary(context, rotateClient),
    ListClients: unary(context, listClients),
    DropClient: unary(context, dropClient),
    CreateTenant: unary(context, createTenant),
    ListTenants: unary(context, listTenants),
    DropTenant: unary(context, dropTenant),
    CreateCatalog: unary(context, createCatalog),
    AlterCatalog: unary(context, alterCatalog),
    DropCatalog: unary(context, dropCatalog),
    DescribeCatalogs: unary(context, describeCatalogs),
    ListJobs: unary(context, listJobs),
    RetryJobs: unary(context, retryJobs),
  });
  const host = config['internal_host'];
  const port = await bind(server, host, config['catalog.internal_port']);
  return { server, address: `${host}:${port}` };
}

function unary<Request, Reply>(context: CatalogContext, work: Unary<Request, Reply>): handleUnaryCall<Request, Reply> {
  const answer = async (call: ServerUnaryCall<Request, Reply>, callback: sendUnaryData<Reply>): Promise<void> => {
    try {
      requireSecret(call.metadata, context.config['cluster.secret']);
      callback(null, await work(context, call.request));
    } catch (thrown) {
      const error = toCatalogError(thrown);
      if (error.code === 'INTERNAL_ERROR') context.log.error({ err: error }, 'an internal call failed');
      callback(toServiceError(error));
    }
  };
  return (call, callback) => void answer(call, callback);
}

function bind(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(`${host}:${port}`, ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(new SkeinError('PORT_IN_USE', `port ${port} of ${host} is in use`, { cause: error }));
    });
  });
}
