import { decodeJwt } from 'jose';
import { doorFetch, type DoorTrust } from '../door-fetch.ts';
import type { CatalogInternalClient } from '#proto/generated/skein/catalog/v1/CatalogInternal.ts';
import type { Principal as PrincipalMessage } from '#proto/generated/skein/catalog/v1/Principal.ts';
import { fromKeyMessage } from '#shared/task/bucket-key.ts';
import { toPrincipalMessage } from '#shared/authorization/principal.ts';
import { SkeinError, type ErrorCode } from '#shared/error.ts';
import type { ReplyOf, UnaryRequest } from '#shared/grpc/call-unary.ts';
import { dataFolder, metadataFolder } from '#shared/iceberg/table-folders.ts';
import { readTableMetadata, type TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { isObject } from '#shared/iceberg/type.ts';
import { COMMIT_OUTCOMES, type CommitOutcome, type WriteCatalog } from '#shared/iceberg/write/commit-writes.ts';
import type { TableName } from '#shared/iceberg/write/table-write.ts';
import { parseJson, printJson, type Json, type JsonObject } from '#shared/json.ts';
import {
  fileCredential,
  storeKeyId,
  type StoreCredential,
  type StorageCredential,
} from '#shared/storage/credential.ts';
import { must } from '#shared/must.ts';
import type { TokenClaims } from '#shared/authorization/token-claims.ts';
import { printTableName } from './load-arguments.ts';

/** Time for one request. */
const REQUEST_TIMEOUT_MS = 60_000;

/** The catalog of the cluster. */
export type CatalogAccess = {
  readonly catalogUrl: string;
  /** The certificates that it may show. */
  readonly trust?: DoorTrust;
  readonly token: string;
  /** Makes a call to the catalog's internal service. @throws the service's error, CATALOG_UNAVAILABLE */
  readonly call: <Name extends 'CommitTables' | 'AbandonCommit' | 'VendKey'>(
    method: Name,
    request: UnaryRequest<CatalogInternalClient, Name>,
  ) => Promise<ReplyOf<CatalogInternalClient, Name>>;
};

/** The catalog as a load uses it: tables and namespaces over REST, commits over the internal service. */
export class LoadCatalog implements WriteCatalog {
  readonly #connect: () => Promise<CatalogAccess>;
  #access: CatalogAccess;

  private constructor(connect: () => Promise<CatalogAccess>, access: CatalogAccess) {
    this.#connect = connect;
    this.#access = access;
  }

  /** @param connect called again when the token has expired: a large load may outlast a token */
  static async open(connect: () => Promise<CatalogAccess>): Promise<LoadCatalog> {
    return new LoadCatalog(connect, await connect());
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

  /** The right to write files of a table, and to read its metadata. @throws STORAGE_ERROR, NOT_SUPPORTED */
  storageKey(table: TableMetadata): Promise<StorageCredential> {
    return this.#vendKey(table, '');
  }

  /** Another key in place of one that ends soon, or that the store has refused. @throws as `storageKey` */
  async renewKey(table: TableMetadata, old: StoreCredential): Promise<StoreCredential> {
    const key = await this.#vendKey(table, storeKeyId(old));
    return key.kind === 'file' ? old : key;
  }

  async #vendKey(table: TableMetadata, refused: string): Promise<StorageCredential> {
    const folders = [table.location, dataFolder(table), metadataFolder(table)];
    const { tenant } = this.#principal;
    const request = { folders, writes: true, tenant, refused_key_id: refused };
    const { key, file_roots: roots } = await this.#access.call('VendKey', request);
    return key === null ? fileCredential(...roots) : fromKeyMessage(key);
  }

  async commitTables(key: string, transaction: Uint8Array): Promise<void> {
    await this.#access.call('CommitTables', { principal: this.#principal, key, transaction });
  }

  async abandonCommit(key: string): Promise<CommitOutcome> {
    const { outcome } = await this.#access.call('AbandonCommit', { principal: this.#principal, key });
    return must(
      COMMIT_OUTCOMES.find((one) => one === outcome),
      'the catalog says how a commit ended',
    );
  }

  get #principal(): PrincipalMessage {
    return toPrincipalMessage(decodeJwt<TokenClaims>(this.#access.token));
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
    const { catalogUrl, token, trust = {} } = this.#access;
    const text = body === undefined ? undefined : printJson(body);
    try {
      const response = await doorFetch(`${catalogUrl.replace(/\/$/, '')}/v1/${path}`, trust, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(text === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
        },
        ...(text === undefined ? {} : { body: text }),
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      return { status: response.status, text: await response.text() };
    } catch (cause) {
      throw new SkeinError('CATALOG_UNAVAILABLE', 'the catalog does not answer', { cause });
    }
  }
}

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
