import { createHash } from 'node:crypto';
import type { RunOperationRequest } from '#proto/generated/skein/catalog/v1/RunOperationRequest.ts';
import type { Action } from '#shared/authorization/action.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError, type ErrorData } from '#shared/error.ts';
import { printJson } from '#shared/json.ts';
import { requireAction } from '../authorization/decide.ts';
import { securableOfPath } from '../authorization/securable.ts';
import { BODY_BYTES_HERE } from '../metadata/document-task.ts';
import type { CatalogContext } from '../context.ts';
import { idempotencyKeyOf } from '../rest/idempotency-key.ts';
import { runOnce } from '../rest/run-once.ts';
import { parseBody } from '../metadata/body.ts';
import type { Operation, RestRequest } from '../rest/rest-operation.ts';
import { OPERATIONS } from '../rest/operations.ts';
import { plainUnit } from '../store/postgres/transact.ts';

type ClosedOperation = Extract<Operation, { readonly action: Action }>;
/** An operation that changes something, and may be sent again under its key. */
type Change = ClosedOperation & Required<Pick<ClosedOperation, 'replay'>>;

const isChange = (operation: Operation): operation is Change =>
  operation.action !== null && operation.replay !== undefined;

const CHANGES: ReadonlyMap<string, Change> = new Map(
  OPERATIONS.filter(isChange).map((operation) => [operation.id, operation]),
);

/**
 * Does an operation of the REST API for a statement of the coordinator: the same handler, the same action. Sent again under its key, as
 * after a lost answer, it is the same change.
 * @throws NOT_FOUND for an operation that changes nothing, FORBIDDEN, KEY_REUSED, QUEUE_FULL, NOT_ACTIVE when the term of the coordinator is
 * over, and the errors of the operation
 */
export async function runOperation(
  context: CatalogContext,
  request: RunOperationRequest,
  principal: Principal,
): Promise<{ readonly body: Buffer }> {
  const { params, query, body: bytes } = request;
  const operation = CHANGES.get(request.operation);
  if (operation === undefined) throw new SkeinError('NOT_FOUND', 'no operation of this name changes anything');
  requireAction(principal, operation.action, securableOfPath(params));
  const key = idempotencyKeyOf({ headers: { 'idempotency-key': request.key } }) ?? '';
  const rest: RestRequest = {
    params,
    query,
    headers: {},
    remoteAddress: '',
    origin: undefined,
    claims: principal,
    ...read(operation, bytes),
  };
  const { config, clock, store } = context;
  const answer = await runOnce(context, {
    use: { principal: principal.sub, catalog: params['prefix'] ?? '', key, operation: operation.id },
    requestHash: createHash('sha256')
      .update(JSON.stringify([operation.id, params, query]))
      .update(bytes)
      .digest(),
    expiresAt: new Date(clock.nowMs() + config['catalog.idempotency_lifetime']),
    term: request.term,
    run: (unit) => operation.handle(context, rest, unit),
    replay: () => operation.replay(context, rest, plainUnit(store.db)),
    printError: (error) => ({ status: error.entry.http, text: JSON.stringify(error.toData()) }),
  });
  const text = answer.text ?? (answer.body === undefined ? '' : printJson(answer.body));
  if (answer.status >= 300) throw SkeinError.fromData(JSON.parse(text) as ErrorData);
  return { body: Buffer.from(text) };
}

/** @throws INVALID_REQUEST, PAYLOAD_TOO_LARGE */
function read({ takesLarge }: Operation, bytes: Buffer): Pick<RestRequest, 'body' | 'large'> {
  if (bytes.length <= BODY_BYTES_HERE) return { body: parseBody(bytes), large: undefined };
  if (takesLarge === true) return { body: undefined, large: bytes };
  throw new SkeinError('PAYLOAD_TOO_LARGE', `the statement’s properties take more than ${BODY_BYTES_HERE} bytes`);
}
