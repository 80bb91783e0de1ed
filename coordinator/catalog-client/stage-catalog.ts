import type { CatalogInternalClient } from '#proto/generated/skein/catalog/v1/CatalogInternal.ts';
import type { Stage as StageMessage } from '#proto/generated/skein/catalog/v1/Stage.ts';
import type { StageUpload as UploadMessage } from '#proto/generated/skein/catalog/v1/StageUpload.ts';
import type { Action } from '#shared/authorization/action.ts';
import { toPrincipalMessage, type Principal } from '#shared/authorization/principal.ts';
import type { ReplyOf, UnaryRequest, UnaryMethod } from '#shared/grpc/call-unary.ts';
import { fromKeyMessage } from '#shared/task/bucket-key.ts';
import { fileCredential, type StorageCredential } from '#shared/storage/credential.ts';
import type { StorageUse } from '#shared/storage/storage-use.ts';
import { rootOfStage } from '#shared/stage/stage-folders.ts';
import { must } from '#shared/must.ts';
import type { StageLoads } from '#shared/iceberg/stage-loads.ts';
import type { TableName } from '../binding/table-source.ts';
import { statementUse, type KeyQuestions } from './fresh-key.ts';
import { pages, type Pages } from './pages.ts';

/** A stage, and where it lies. */
export type Stage = {
  readonly id: string;
  readonly catalog: string;
  /** Empty for a principal's own. */
  readonly namespace: readonly string[];
  readonly name: string;
  /** Its folder, normalised. */
  readonly location: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly createdAtMs: number;
  /** The right to its files; null in a list. */
  readonly credential: StorageCredential | null;
  /** Address of the store for clients; null = they come through the coordinator. */
  readonly clientEndpoint: string | null;
  /** The catalog signs requests of clients for its files (`StageCatalog.sign`). */
  readonly signs: boolean;
  /** Renews it: a long file may take longer than a key lives. */
  readonly use?: StorageUse;
};

/** A file that is being written into a stage. */
export type StageUpload = {
  readonly id: string;
  readonly stage: Stage;
  /** Path of the file, in the stage. */
  readonly path: string;
  /** Size of each part but the last; 0 = the file comes in one request. */
  readonly partBytes: number;
  /** Null = unknown. */
  readonly sizeBytes: number | null;
  readonly expiresAtMs: number;
  /** The store's id of the upload, where clients send the parts to it. */
  readonly storeUploadId: string | null;
};

/** `namespace` and `name` null = the principal's own stage, which is made in the catalog when there is none. */
export type StageName = {
  readonly catalog: string;
  readonly of: { readonly namespace: readonly string[]; readonly name: string } | null;
};
type StageAction = Extract<Action, 'stage.read' | 'stage.write'>;

/** The coordinator's questions to the catalog about stages. The catalog checks the principal with every call. */
export interface StageCatalog {
  /** @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND, STAGE_NOT_FOUND */
  open(principal: Principal, action: StageAction, name: StageName): Promise<Stage>;
  /** @throws STAGE_NOT_FOUND */
  openById(principal: Principal, action: StageAction, id: string): Promise<Stage>;
  /**
   * Those of some files of a stage that are loaded into a branch of a table, by their paths.
   * @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND, TABLE_NOT_FOUND
   */
  loaded(principal: Principal, table: TableName, files: Omit<StageLoads, 'again'>): Promise<readonly string[]>;
  /** The stages of a namespace, by name. @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND */
  list(principal: Principal, catalog: string, namespace: readonly string[]): Pages<Stage>;
  /**
   * Addresses of the store by which clients read files of a stage, or write them, whole or in parts, in the order of the files.
   * @throws STAGE_NOT_FOUND, INVALID_REQUEST, NOT_SUPPORTED
   */
  sign(
    principal: Principal,
    action: StageAction,
    requests: {
      readonly stageId: string;
      readonly files: readonly {
        readonly path: string;
        readonly sizeBytes: number | null;
        /** A part of an upload, which the store has begun. */
        readonly part: { readonly uploadId: string; readonly number: number } | null;
      }[];
      readonly expiresAtMs: number;
    },
  ): Promise<readonly StoreAddress[]>;
  /** @throws STAGE_NOT_FOUND, QUEUE_FULL */
  beginUpload(principal: Principal, upload: NewUpload): Promise<StageUpload>;
  /** @throws UPLOAD_NOT_FOUND */
  findUpload(principal: Principal, id: string): Promise<StageUpload>;
  /** @param inParts requests of the upload may still run */
  endUpload(id: string, inParts: boolean): Promise<void>;
}

/** An address of the store for one request. */
type StoreAddress = {
  readonly url: string;
  /** The request has to have them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly expiresAtMs: number;
};

type NewUpload = {
  readonly id: string;
  readonly stageId: string;
  readonly path: string;
  readonly partBytes: number;
  readonly sizeBytes: number | null;
  /** Clients send the parts to the store itself, where it can be. */
  readonly isAtStore?: boolean;
};

/** A call of the catalog's internal service. */
export type CatalogCall = <Name extends UnaryMethod<CatalogInternalClient>>(
  method: Name,
  request: UnaryRequest<CatalogInternalClient, Name>,
  timeoutMs?: number,
) => Promise<ReplyOf<CatalogInternalClient, Name>>;

/** Stages of one page of a list. */
const PAGE_STAGES = 1_000;
/** Files of one question. */
const PAGE_FILES = 1_000;

export const stageCatalog = (call: CatalogCall, keys: KeyQuestions): StageCatalog => ({
  open: async (principal, action, { catalog, of }) => {
    const where = { catalog, namespace: [...(of?.namespace ?? [])], name: of?.name ?? '' };
    return opened(
      await call('OpenStage', { principal: toPrincipalMessage(principal), action, ...where }),
      keys,
      principal,
    );
  },
  openById: async (principal, action, id) =>
    opened(await call('OpenStage', { principal: toPrincipalMessage(principal), action, id }), keys, principal),
  loaded: async (principal, table, { branch, stageId, files }) => {
    const name = { ...table, namespace: [...table.namespace] };
    const of = { principal: toPrincipalMessage(principal), table: name, branch, stage_id: stageId };
    const paths: string[] = [];
    for (let start = 0; start < files.length; start += PAGE_FILES) {
      const page = files.slice(start, start + PAGE_FILES);
      paths.push(...(await call('FindLoads', { ...of, files: page })).paths);
    }
    return paths;
  },
  list: (principal, catalog, namespace) =>
    pages<Stage>(async (last) => {
      const of = { principal: toPrincipalMessage(principal), catalog, namespace: [...namespace] };
      const { stages, more } = await call('ListStages', { ...of, after: last?.name ?? '', limit: PAGE_STAGES });
      return { items: stages.map(fromMessage), more };
    }),
  sign: async (principal, action, { stageId, files, expiresAtMs }) => {
    const { requests } = await call('SignStageRequests', {
      principal: toPrincipalMessage(principal),
      action,
      stage_id: stageId,
      requests: files.map(({ path, sizeBytes, part }) => ({
        path,
        size_bytes: sizeBytes ?? -1,
        upload_id: part?.uploadId ?? '',
        part_number: part?.number ?? 0,
      })),
      expires_at_ms: expiresAtMs,
    });
    return requests.map(({ url, headers, expires_at_ms: endMs }) => ({ url, headers, expiresAtMs: Number(endMs) }));
  },
  beginUpload: async (principal, { id, stageId, path, partBytes, sizeBytes, isAtStore = false }) => {
    const request = {
      principal: toPrincipalMessage(principal),
      stage_id: stageId,
      upload_id: id,
      path,
      part_bytes: partBytes,
      size_bytes: sizeBytes ?? -1,
      at_store: isAtStore,
    };
    return uploadOf(id, await call('BeginUpload', request), { keys, principal });
  },
  findUpload: async (principal, id) =>
    uploadOf(id, await call('FindUpload', { principal: toPrincipalMessage(principal), upload_id: id }), {
      keys,
      principal,
    }),
  endUpload: async (id, inParts) => {
    await call('EndUpload', { upload_id: id, in_parts: inParts });
  },
});

const fromMessage = ({
  created_at_ms: createdAtMs,
  key,
  client_endpoint: endpoint,
  ...stage
}: StageMessage): Stage => ({
  ...stage,
  clientEndpoint: endpoint === '' ? null : endpoint,
  createdAtMs: Number(createdAtMs),
  credential: key === null ? localCredential(stage.location) : fromKeyMessage(key),
});

const opened = (message: StageMessage, keys: KeyQuestions, { tenant }: Principal): Stage => ({
  ...fromMessage(message),
  use: statementUse(keys, tenant),
});

const localCredential = (location: string): StorageCredential | null =>
  location.startsWith('file:') ? fileCredential(rootOfStage(location)) : null;

const uploadOf = (
  id: string,
  message: UploadMessage,
  { keys, principal }: { readonly keys: KeyQuestions; readonly principal: Principal },
): StageUpload => ({
  id,
  stage: opened(must(message.stage, 'an upload names its stage'), keys, principal),
  path: message.path,
  partBytes: Number(message.part_bytes),
  sizeBytes: message.size_bytes === '-1' ? null : Number(message.size_bytes),
  expiresAtMs: Number(message.expires_at_ms),
  storeUploadId: message.store_upload_id === '' ? null : message.store_upload_id,
});
