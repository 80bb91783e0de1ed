import type { ErrorCode, SkeinError } from '#shared/error.ts';
import type { Json } from '#shared/json.ts';

/**
 * Maps the catalogue's errors to those of the Iceberg REST specification. Java's client chooses its exception by status, on table routes by
 * type. A code without a line here gets the general type of its status.
 */
const ICEBERG_ERRORS: Partial<Record<ErrorCode, readonly [status: number, type: string]>> = {
  INVALID_REQUEST: [400, 'BadRequestException'],
  PAYLOAD_TOO_LARGE: [413, 'BadRequestException'],
  UNAUTHENTICATED: [401, 'NotAuthorizedException'],
  FORBIDDEN: [403, 'ForbiddenException'],
  NOT_FOUND: [404, 'NotFoundException'],
  CATALOG_NOT_FOUND: [404, 'NoSuchWarehouseException'],
  SCHEMA_NOT_FOUND: [404, 'NoSuchNamespaceException'],
  TABLE_NOT_FOUND: [404, 'NoSuchTableException'],
  VIEW_NOT_FOUND: [404, 'NoSuchViewException'],
  FUNCTION_NOT_FOUND: [404, 'NoSuchFunctionException'],
  PLAN_NOT_FOUND: [404, 'NoSuchPlanIdException'],
  PLAN_TASK_NOT_FOUND: [404, 'NoSuchPlanTaskException'],
  INVALID_VIEW: [400, 'IllegalArgumentException'],
  TABLE_METADATA_MISSING: [404, 'NotFoundException'],
  NOT_SUPPORTED: [406, 'UnsupportedOperationException'],
  TABLE_DATA_TOO_COMPLEX: [406, 'UnsupportedOperationException'],
  TABLE_EXISTS: [409, 'AlreadyExistsException'],
  SCHEMA_EXISTS: [409, 'AlreadyExistsException'],
  ALREADY_EXISTS: [409, 'AlreadyExistsException'],
  SCHEMA_NOT_EMPTY: [409, 'NamespaceNotEmptyException'],
  COMMIT_CONFLICT: [409, 'CommitFailedException'],
  CATALOG_NOT_EMPTY: [409, 'CatalogNotEmptyException'],
  PROTECTED: [403, 'ForbiddenException'],
  COMMIT_NOT_APPLIED: [409, 'CommitFailedException'],
  COMMIT_STATE_UNKNOWN: [500, 'CommitStateUnknownException'],
  KEY_REUSED: [422, 'UnprocessableEntityException'],
  CONFLICTING_PROPERTIES: [422, 'UnprocessableEntityException'],
  QUEUE_FULL: [429, 'TooManyRequestsException'],
  CATALOG_UNAVAILABLE: [503, 'ServiceUnavailableException'],
  STORAGE_ERROR: [503, 'ServiceUnavailableException'],
  STORAGE_FULL: [503, 'ServiceUnavailableException'],
};

export function icebergError(error: SkeinError): { readonly status: number; readonly body: Json } {
  const [status, type] = ICEBERG_ERRORS[error.code] ?? generalError(error.entry.http);
  return { status, body: { error: { message: error.message, type, code: status } } };
}

const generalError = (status: number): readonly [number, string] =>
  status < 500 ? [status, 'BadRequestException'] : [500, 'InternalServerError'];
