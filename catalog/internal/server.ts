import { Server, type handleUnaryCall, type sendUnaryData, type ServerUnaryCall } from '@grpc/grpc-js';
import { isAction, type Action } from '#shared/authorization/action.ts';
import type { AbandonCommitRequest } from '#proto/generated/skein/catalog/v1/AbandonCommitRequest.ts';
import type { FindLoadsRequest } from '#proto/generated/skein/catalog/v1/FindLoadsRequest.ts';
import type { ListTablesRequest } from '#proto/generated/skein/catalog/v1/ListTablesRequest.ts';
import type { OpenStageRequest } from '#proto/generated/skein/catalog/v1/OpenStageRequest.ts';
import type { LoadTablesRequest } from '#proto/generated/skein/catalog/v1/LoadTablesRequest.ts';
import type { SignInReply } from '#proto/generated/skein/catalog/v1/SignInReply.ts';
import type { SignInRequest } from '#proto/generated/skein/catalog/v1/SignInRequest.ts';
import type { Principal as PrincipalMessage } from '#proto/generated/skein/catalog/v1/Principal.ts';
import { fromPrincipalMessage, type Principal } from '#shared/authorization/principal.ts';
import type { CatalogInternalHandlers } from '#proto/generated/skein/catalog/v1/CatalogInternal.ts';
import { answerCalls } from '#shared/grpc/answer-calls.ts';
import type { ClusterRole } from '#shared/grpc/cluster-role.ts';
import { toServiceError } from '#shared/grpc/internal-auth.ts';
import { KEEPALIVE } from '#shared/grpc/keepalive.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { addMemberService, type MemberProcess } from '#shared/membership/member-service.ts';
import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { requireAction } from '../authorization/decide.ts';
import { THE_TENANT, type Securable } from '../authorization/securable.ts';
import type { CatalogContext } from '../context.ts';
import { toCatalogError } from '../store/postgres/errors.ts';
import { forAddress, onBehalfOf } from '../store/postgres/on-behalf-of.ts';
import {
  alterCatalogCall,
  alterTenant,
  createCatalogCall,
  createTenant,
  describeCatalogs,
  dropCatalogCall,
  dropTenantCall,
  listTenantsCall,
} from './administration.ts';
import { abortUploads } from './abort-uploads.ts';
import { exportAudit } from './audit-export.ts';
import { authorize } from './authorize.ts';
import { abandonCommit, commitTablesCall } from './commit-tables.ts';
import { createClient, dropClient, listClientsCall, rotateClient } from './clients.ts';
import { holdAnswers } from './hold-answers.ts';
import { listJobs, retryJobs } from './jobs.ts';
import { answerPolicyStatement } from './policy-statement.ts';
import { runPrincipalStatement } from './principal-statement.ts';
import { runOperation } from './run-operation.ts';
import { listCatalogsCall, listNamespacesCall, listTablesCall } from './lists.ts';
import { listChangesCall } from './list-changes.ts';
import { listDroppedCall } from './list-dropped.ts';
import { listRelationsCall } from './list-relations.ts';
import { signStageRequests } from './sign-stage-requests.ts';
import { beginUpload, endUploadCall, findUpload, listStagesCall, openStage } from './stages.ts';
import { findFolders } from './find-folders.ts';
import { findLoadsCall } from './find-loads.ts';
import { previewTable } from './preview-table.ts';
import { redeemCodeCall, renewSignInCall, revokeSignInCall } from './person-sign-in.ts';
import { signIn } from './sign-in.ts';
import { getMoment } from './table-at-moment.ts';
import { TableLoader } from './table-loader.ts';
import { mintToken } from './mint-token.ts';
import { checkCatalog } from './bucket-settings.ts';
import { rescueUser } from './rescue-user.ts';
import { resealSecrets } from './reseal-secrets.ts';
import { vendKey } from './vend-key.ts';
import { watchEpochs } from './watch-epochs.ts';

/** Maximum size of an answer: the metadata of all tables of one statement. */
const MESSAGE_BYTES_MAX = 1024 * 1024 * 1024;

/** Time in which a catalog ends: it has nothing to drain. */
const CLOSE_MS = 5_000;

type Unary<Request, Reply> = (context: CatalogContext, request: Request) => Promise<Reply>;

/** Serves the calls of `proto/catalog.proto`, and with `member` those of `member.proto`, on `catalog.internal_port`. @throws PORT_IN_USE */
export async function startInternalServer(
  context: CatalogContext,
  member?: MemberProcess,
): Promise<{ readonly address: string; close(): Promise<void> }> {
  const { config } = context;
  const server = new Server({ ...KEEPALIVE, 'grpc.max_send_message_length': MESSAGE_BYTES_MAX });
  const loader = new TableLoader(context);
  const { definition } = loadService('catalog.proto', 'skein.catalog.v1.CatalogInternal');
  const carried = {
    Authorize: forPrincipal(context, NO_ACTION, authorize),
    // It asks for each table by itself.
    LoadTables: forPrincipal(context, NO_ACTION, (_context, request: LoadTablesRequest, principal) =>
      loader.load(request, principal),
    ),
    GetMoment: unary(context, COORDINATOR, getMoment),
  };
  const handlers: CatalogInternalHandlers = {
    ...carried,
    Calls: answerCalls(definition, carried, (wire) => context.security.admit(wire, COORDINATOR)),
    StageTable: forPrincipal(context, { actions: ['table.commit'] }, previewTable),
    ListCatalogs: forPrincipal(context, { actions: ['catalog.list', 'catalog.resolve'] }, listCatalogsCall),
    ListNamespaces: forPrincipal(
      context,
      { actions: ['schema.list', 'schema.resolve'], object: catalogOf },
      listNamespacesCall,
    ),
    // It asks for each relation by itself.
    ListRelations: forPrincipal(context, NO_ACTION, listRelationsCall),
    ListChanges: forPrincipal(context, NO_ACTION, listChangesCall),
    ListTables: forPrincipal(context, { actions: ['table.list'], object: schemaOf }, listTablesCall),
    ListDropped: forPrincipal(context, { actions: ['table.list'], object: catalogOf }, listDroppedCall),
    CommitTables: forPrincipal(context, { actions: ['table.commit'] }, commitTablesCall, WRITERS),
    // The principal may be gone, and the files that its commit did not take must go all the same.
    AbandonCommit: unary(context, WRITERS, (_context, request: AbandonCommitRequest) =>
      abandonCommit(context, request, fromPrincipalMessage(request.principal)),
    ),
    FindLoads: forPrincipal(context, { actions: ['table.commit'], object: tableOf }, findLoadsCall),
    ListStages: forPrincipal(context, { actions: ['stage.list'], object: schemaOf }, listStagesCall),
    OpenStage: forPrincipal(context, { actions: ['stage.read', 'stage.write'], object: stageOf }, openStage),
    BeginUpload: forPrincipal(context, { actions: ['stage.write'] }, beginUpload),
    SignStageRequests: forPrincipal(context, { actions: ['stage.read', 'stage.write'] }, signStageRequests),
    FindUpload: forPrincipal(context, { actions: ['stage.write'] }, findUpload),
    EndUpload: unary(context, COORDINATOR, endUploadCall),
    // The operation says which action it is.
    RunOperation: forPrincipal(context, NO_ACTION, runOperation),
    // Each statement asks for its right in the transaction of its change.
    RunPrincipalStatement: forPrincipal(context, NO_ACTION, runPrincipalStatement),
    RunPolicyStatement: forPrincipal(context, NO_ACTION, answerPolicyStatement),
    WatchEpochs: watchEpochs(context),
    HoldAnswers: holdAnswers(context),
    GetSigningKeys: unary(context, COORDINATOR, ({ keys }) =>
      Promise.resolve({ jwks_json: JSON.stringify(keys.jwks()) }),
    ),
    SignIn: unary(context, COORDINATOR, signInOfAddress),
    RedeemCode: unary(context, COORDINATOR, redeemCodeCall),
    RenewSignIn: unary(context, COORDINATOR, renewSignInCall),
    RevokeSignIn: unary(context, COORDINATOR, revokeSignInCall),
    ...operatorCalls(context),
    FindFolders: forPrincipal(context, { actions: ['table.commit'] }, findFolders),
    VendKey: unary(context, WRITERS, vendKey),
    AbortUploads: unary(context, COORDINATOR, abortUploads),
  };
  server.addService(definition, handlers);
  // It listens only after Postgres has answered.
  if (member !== undefined)
    addMemberService(server, { ...context, member, notReady: () => undefined, drainMs: CLOSE_MS });
  const host = config['internal_host'];
  const bound = await context.security.listen(server, host, config['catalog.internal_port']);
  return { address: `${host}:${bound.port}`, close: () => bound.close() };
}

const signInOfAddress: Unary<SignInRequest, SignInReply> = (context, request) =>
  forAddress(request.address, () => signIn(context, request));

/** The calls of `skein admin` and `skein token`. */
const operatorCalls = (context: CatalogContext) =>
  ({
    MintToken: unary(context, OPERATOR, mintToken),
    CreateClient: unary(context, OPERATOR, createClient),
    RotateClient: unary(context, OPERATOR, rotateClient),
    ListClients: unary(context, OPERATOR, listClientsCall),
    DropClient: unary(context, OPERATOR, dropClient),
    CreateTenant: unary(context, OPERATOR, createTenant),
    AlterTenant: unary(context, OPERATOR, alterTenant),
    RescueUser: unary(context, OPERATOR, rescueUser),
    ExportAuditLog: unary(context, OPERATOR, exportAudit),
    ListTenants: unary(context, OPERATOR, listTenantsCall),
    DropTenant: unary(context, OPERATOR, dropTenantCall),
    CreateCatalog: unary(context, OPERATOR, createCatalogCall),
    AlterCatalog: unary(context, OPERATOR, alterCatalogCall),
    DropCatalog: unary(context, OPERATOR, dropCatalogCall),
    CheckCatalog: unary(context, OPERATOR, checkCatalog),
    ResealSecrets: unary(context, OPERATOR, resealSecrets),
    DescribeCatalogs: unary(context, OPERATOR, describeCatalogs),
    ListJobs: unary(context, OPERATOR, listJobs),
    RetryJobs: unary(context, OPERATOR, retryJobs),
  }) satisfies Partial<CatalogInternalHandlers>;

/** The catalog's own certificate counts as an operator's: whoever holds it has the catalog's database. */
const OPERATOR: readonly ClusterRole[] = ['operator', 'catalog'];
const COORDINATOR: readonly ClusterRole[] = ['coordinator'];
/** `skein load` commits like a coordinator, for the principal that it names. */
const WRITERS: readonly ClusterRole[] = [...COORDINATOR, ...OPERATOR];

type ForPrincipal = {
  readonly principal: PrincipalMessage | null;
  /** One of the call's actions, when it has several. */
  readonly action?: string;
};

/** The right that a call needs before its work begins: one of the actions, to the object that the request names. */
type NeededRight<Request> = {
  readonly actions: readonly Action[];
  /** Absent for requests that name none, or several: the principal may do the action in its tenant, and the work asks for each object. */
  readonly object?: (request: Request) => Securable;
};

const NO_ACTION = { actions: [] };

const catalogOf = ({ catalog }: { readonly catalog: string }): Securable => ({ kind: 'catalog', catalog });

const schemaOf = ({ catalog, namespace }: Pick<ListTablesRequest, 'catalog' | 'namespace'>): Securable => ({
  kind: 'schema',
  catalog,
  namespace,
});

const tableOf = ({ table }: FindLoadsRequest): Securable =>
  table === null
    ? THE_TENANT
    : { kind: 'table', catalog: table.catalog, namespace: table.namespace, name: table.table };

/** A stage that is found by its id, and the own one, which has no name, belong to the tenant. */
const stageOf = ({ catalog, namespace, name }: OpenStageRequest): Securable =>
  name === '' ? THE_TENANT : { kind: 'stage', catalog, namespace, name };

/**
 * A call that is made for a user. The user must be one of the tenant that the call names, and may do the action: the one that
 * the request names of those that the call serves. A call that serves none only asks.
 */
function forPrincipal<Request extends object, Reply>(
  context: CatalogContext,
  { actions, object }: NeededRight<Request>,
  work: (context: CatalogContext, request: Request, principal: Principal) => Promise<Reply>,
  callers = COORDINATOR,
): handleUnaryCall<Request & ForPrincipal, Reply> {
  return unary(context, callers, async (_context, request) => {
    const principal = fromPrincipalMessage(request.principal);
    return onBehalfOf({ tenant: principal.tenant, principal: principal.sub }, async () => {
      await context.principals.require(principal);
      if (actions.length > 0) {
        requireAction(principal, wantedAction(actions, request.action), object?.(request) ?? THE_TENANT);
      }
      return work(context, request, principal);
    });
  });
}

function wantedAction(actions: readonly Action[], named = ''): Action {
  if (actions.length === 1) return must(actions[0], 'the call serves an action');
  if (isAction(named) && actions.includes(named)) return named;
  throw new SkeinError('INVALID_REQUEST', `the call is for one of ${actions.join(', ')}`);
}

function unary<Request, Reply>(
  context: CatalogContext,
  callers: readonly ClusterRole[],
  work: Unary<Request, Reply>,
): handleUnaryCall<Request, Reply> {
  const answer = async (call: ServerUnaryCall<Request, Reply>, callback: sendUnaryData<Reply>): Promise<void> => {
    try {
      context.security.admit(call, callers);
      callback(null, await work(context, call.request));
    } catch (thrown) {
      const error = toCatalogError(thrown);
      if (error.code === 'INTERNAL_ERROR') context.log.error({ err: error }, 'an internal call failed');
      callback(toServiceError(error));
    }
  };
  return (call, callback) => void answer(call, callback);
}
