import { SkeinError, type ErrorCode } from '#shared/error.ts';
import { readTableMetadata, type TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { isObject } from '#shared/iceberg/type.ts';
import { parseJson, printJson, type Json, type JsonObject } from '#shared/json.ts';
import { printTableName, type TableName } from './load-arguments.ts';

/** The few calls of the Iceberg REST catalog that loading needs. */

/** The error of a commit with unknown outcome: its files must not be removed. */
export class CommitStateUnknown extends SkeinError {
  constructor(cause: unknown) {
    super('CATALOG_UNAVAILABLE', 'the catalog did not say whether it took the commit', { cause });
  }
}

/** Time for one request. */
const REQUEST_TIMEOUT_MS = 60_000;

/** URL of the catalog, and a token for it. */
export type CatalogAccess = { readonly catalogUrl: string; readonly token: string };

export class RestCatalog {
  readonly #connect: () => Promise<CatalogAccess>;
  #access: CatalogAccess;

  private constructor(connect: () => Promise<CatalogAccess>, access: CatalogAccess) {
    this.#connect = connect;
    this.#access = access;
  }

  /** @param connect called again when the token has expired: a large load may outlast a token */
  static async open(connect: () => Promise<CatalogAccess>): Promise<RestCatalog> {
    return new RestCatalog(connect, await connect());
  }

  /** @throws TABLE_NOT_FOUND and other errors of the catalog */
  async loadTable(name: TableName): Promise<TableMetadata> {
    return tableOf(await this.#call('GET', tablePath(name), undefined, printTableName(name)));
  }

  async tableExists(name: TableName): Promise<boolean> {
    try {
      await this.loadTable(name);
      return true;
    } catch (error) {
      if (error instanceof SkeinError && ABSENT.has(error.code)) return false;
      throw error;
    }
  }

  /** Creates the namespace and its parents as needed. Returns those that it created, outermost first. */
  async createNamespaces(name: TableName): Promise<readonly (readonly string[])[]> {
    const made: (readonly string[])[] = [];
    for (let length = 1; length <= name.namespace.length; length++) {
      const namespace = name.namespace.slice(0, length);
      try {
        await this.#call('POST', `${catalogPath(name)}/namespaces`, { namespace, properties: {} }, name.catalog);
        made.push(namespace);
      } catch (error) {
        if (!(error instanceof SkeinError) || !EXISTS.has(error.code)) throw error;
      }
    }
    return made;
  }

  async dropNamespace(name: TableName, namespace: readonly string[]): Promise<void> {
    await this.#call('DELETE', `${catalogPath(name)}/namespaces/${levels(namespace)}`, undefined, namespace.join('.'));
  }

  /** Returns the metadata that a new table would have; nothing is created until `commit` with `assert-create`. */
  async stageTable(name: TableName, request: JsonObject): Promise<TableMetadata> {
    const body = { ...request, name: name.table, 'stage-create': true };
    const path = `${catalogPath(name)}/namespaces/${levels(name.namespace)}/tables`;
    return tableOf(await this.#call('POST', path, body, printTableName(name)));
  }

  /**
   * @throws COMMIT_CONFLICT when a requirement no longer holds; CommitStateUnknown when the response was lost.
   */
  async commit(name: TableName, requirements: readonly JsonObject[], updates: readonly JsonObject[]): Promise<void> {
    const body = {
      identifier: { namespace: name.namespace, name: name.table },
      requirements,
      updates,
    };
    try {
      await this.#call('POST', tablePath(name), body, printTableName(name));
    } catch (error) {
      const isLost = error instanceof SkeinError && error.code === 'CATALOG_UNAVAILABLE' && !wasRefused(error.cause);
      if (isLost) throw new CommitStateUnknown(error);
      throw error;
    }
  }

  async #call(method: string, path: string, body: JsonObject | undefined, what: string): Promise<Json> {
    let answer = await this.#send(method, path, body);
    if (answer.status === 401) {
      this.#access = await this.#connect();
      answer = await this.#send(method, path, body);
    }
    if (answer.status >= 300) throw toError(answer.status, answer.text, what);
    return answer.text === '' ? null : parseJson(answer.text);
  }

  async #send(method: string, path: string, body: JsonObject | undefined): Promise<{ status: number; text: string }> {
    const { catalogUrl, token } = this.#access;
    try {
      const response = await fetch(`${catalogUrl.replace(/\/$/, '')}/v1/${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: body === undefined ? null : printJson(body),
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      return { status: response.status, text: await response.text() };
    } catch (cause) {
      throw new SkeinError('CATALOG_UNAVAILABLE', 'the catalog does not answer', { cause });
    }
  }
}

/** Whether the connection was refused, so the server never saw the request. */
const wasRefused = (error: unknown): boolean =>
  error instanceof Error && (error.cause as { readonly code?: unknown } | undefined)?.code === 'ECONNREFUSED';

const ABSENT: ReadonlySet<ErrorCode> = new Set(['TABLE_NOT_FOUND', 'SCHEMA_NOT_FOUND']);
const EXISTS: ReadonlySet<ErrorCode> = new Set(['TABLE_EXISTS', 'SCHEMA_EXISTS', 'ALREADY_EXISTS']);

const catalogPath = (name: TableName): string => encodeURIComponent(name.catalog);
const levels = (namespace: readonly string[]): string => encodeURIComponent(namespace.join('\u001f'));
const tablePath = (name: TableName): string =>
  `${catalogPath(name)}/namespaces/${levels(name.namespace)}/tables/${encodeURIComponent(name.table)}`;

function tableOf(json: Json): TableMetadata {
  const metadata = isObject(json) ? json['metadata'] : undefined;
  if (!isObject(metadata)) throw new SkeinError('CATALOG_UNAVAILABLE', 'the catalog answered without table metadata');
  return readTableMetadata(metadata);
}

/** Maps the specification's error types to Skein's error codes. */
const BY_TYPE: Readonly<Record<string, ErrorCode>> = {
  NoSuchTableException: 'TABLE_NOT_FOUND',
  NoSuchNamespaceException: 'SCHEMA_NOT_FOUND',
  NoSuchWarehouseException: 'CATALOG_NOT_FOUND',
  NoSuchCatalogException: 'CATALOG_NOT_FOUND',
  AlreadyExistsException: 'TABLE_EXISTS',
  CommitFailedException: 'COMMIT_CONFLICT',
};
const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'CATALOG_NOT_FOUND',
  409: 'COMMIT_CONFLICT',
};

function toError(status: number, text: string, what: string): SkeinError {
  const { type, message } = errorOf(text);
  const code = BY_TYPE[type] ?? BY_STATUS[status] ?? (status >= 500 ? 'CATALOG_UNAVAILABLE' : 'INVALID_REQUEST');
  if (code === 'TABLE_EXISTS') return new SkeinError(code, `${what} exists already`);
  return new SkeinError(code, message === '' ? `the catalog answered ${status} to a request for ${what}` : message);
}

function errorOf(text: string): { type: string; message: string } {
  try {
    const body = parseJson(text);
    const error = isObject(body) ? body['error'] : undefined;
    if (isObject(error)) return { type: textOf(error['type']), message: textOf(error['message']) };
  } catch {
    // Not JSON: a proxy's page.
  }
  return { type: '', message: '' };
}

const textOf = (json: Json | undefined): string => (typeof json === 'string' ? json : '');
