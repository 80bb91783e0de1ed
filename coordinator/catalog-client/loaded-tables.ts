import { memoryUses } from '#shared/memory-uses.ts';
import { LRUCache } from 'lru-cache';
import type { LoadedTable as LoadedTableMessage } from '#proto/generated/skein/catalog/v1/LoadedTable.ts';
import { toPrincipalMessage, type Principal } from '#shared/authorization/principal.ts';
import { fromPolicyMessage } from '#shared/authorization/table-policy.ts';

import { parseLargeMetadata } from '#shared/iceberg/parse-large-metadata.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { parseJson } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { fromKeyMessage } from '#shared/task/bucket-key.ts';
import { fileCredential } from '#shared/storage/credential.ts';
import { rootsOfMessage } from '#shared/storage/denied-roots.ts';
import type { WorkPool } from '#shared/thread/work-pool.ts';
import {
  MISSING_CODES,
  tableKey,
  type LoadedTable,
  type MissingCode,
  type TableLoader,
  type TableName,
} from '../binding/table-source.ts';
import { readViewDefinition, type ViewDefinition } from '../binding/view-definition.ts';
import type { AnswerLease } from './answer-lease.ts';
import type { CatalogReads } from './catalog-reads.ts';
import { LastAnswers } from './last-answers.ts';

export type FoundTable = Extract<LoadedTable, { kind: 'found' }>;

/** A document, parsed, at its version. */
type Document = { readonly version: string; readonly metadata: TableMetadata | ViewDefinition };

type Options = {
  readonly reads: CatalogReads;
  readonly timeoutMs: number;
  readonly lease: AnswerLease;
  readonly cacheBytes: number;
  /** Parse large metadata. */
  readonly readers: WorkPool;
};

/** A parsed document takes about this many times the bytes of its text. */
const PARSED_FACTOR = 3;

/** Loads tables and views for principals. Documents are kept by their version, and answers as long as a lease says that they hold. */
export class LoadedTables {
  readonly #options: Options;
  readonly #documents: LRUCache<string, Document>;
  readonly #answers: LastAnswers;
  readonly #uses = memoryUses('table_documents');

  constructor(options: Options) {
    this.#options = options;
    // The library takes 0 for "no limit".
    this.#documents = new LRUCache({ maxSize: Math.max(1, options.cacheBytes) });
    this.#answers = new LastAnswers(options.lease, (tenant, name, version) => {
      const known = this.#documents.get(keyOf(tenant, name));
      return known?.version === version ? known.metadata : undefined;
    });
  }

  get cacheBytes(): number {
    return this.#documents.calculatedSize;
  }

  /** The tables of a principal, as they are at each call, or as they were at a moment. */
  of(principal: Principal, moment?: string): TableLoader {
    const loadTables: TableLoader['loadTables'] = (names, signal) => this.#load(principal, { moment, names }, signal);
    if (moment !== undefined) return { loadTables };
    return { loadTables, leasedTables: (names) => this.#answers.leased(principal, names) };
  }

  /** A table as the catalog says that changes would make it. */
  async previewed(
    tenant: string,
    { name, version }: { readonly name: TableName; readonly version: string },
    table: LoadedTableMessage,
  ): Promise<FoundTable> {
    const { signal } = new AbortController();
    return found(table, { name, version, metadata: await this.#parse(table, { tenant, name, signal }) });
  }

  async #load(
    principal: Principal,
    { moment, names }: { readonly moment: string | undefined; readonly names: readonly TableName[] },
    signal: AbortSignal,
  ): Promise<readonly LoadedTable[]> {
    if (names.length === 0) return [];
    const { tenant } = principal;
    const { reads, lease, timeoutMs } = this.#options;
    const known = names.map((name) => this.#documents.get(keyOf(tenant, name)));
    const request = {
      principal: toPrincipalMessage(principal),
      names: names.map((name, i) => ({ ...name, known_version: known[i]?.version ?? '' })),
      moment: moment ?? '',
    };
    const asked = lease.askedAt();
    const reply = await reads.call('LoadTables', request, { signal, timeoutMs });
    const tables = await Promise.all(
      reply.tables.map((table, i) => {
        const name = must(names[i], 'one answer for each name');
        return this.#loaded(table, { tenant, name, known: known[i], isNow: moment === undefined, signal });
      }),
    );
    if (moment === undefined) this.#answers.keep({ principal, names, asked }, tables);
    return tables;
  }

  /** One answer; the document of a table as it is now is kept for other statements. */
  async #loaded(
    table: LoadedTableMessage,
    asked: {
      readonly tenant: string;
      readonly name: TableName;
      readonly known: Document | undefined;
      readonly isNow: boolean;
      readonly signal: AbortSignal;
    },
  ): Promise<LoadedTable> {
    const { tenant, known, isNow, signal } = asked;
    const key = keyOf(tenant, asked.name);
    const isView = table.status === 'VIEW';
    if (table.status !== 'FOUND' && !isView) {
      if (isNow) this.#documents.delete(key);
      return { kind: 'missing', code: missingCode(table.status) };
    }
    const name = { catalog: asked.name.catalog, namespace: table.namespace, table: table.table };
    const isKnown = known !== undefined && table.metadata_json === '' && known.version === table.version;
    this.#uses.count(isKnown);
    const metadata = isKnown
      ? known.metadata
      : isView
        ? readViewDefinition(parseJson(table.metadata_json))
        : await this.#parse(table, { tenant, name, signal });
    if (!isKnown && isNow) {
      this.#documents.set(
        key,
        { version: table.version, metadata },
        { size: table.metadata_json.length * PARSED_FACTOR },
      );
    }
    const { version } = table;
    if ('representations' in metadata) {
      return { kind: 'view', name, version, oid: table.oid, view: metadata, actions: new Set(table.actions) };
    }
    return found(table, { name, version, metadata });
  }

  #parse(
    { metadata_json: text }: LoadedTableMessage,
    { tenant, name, signal }: { readonly tenant: string; readonly name: TableName; readonly signal: AbortSignal },
  ): Promise<TableMetadata> {
    const what = `the metadata of ${[name.catalog, ...name.namespace, name.table].join('.')}`;
    return parseLargeMetadata(this.#options.readers, text, { owner: tenant, what, signal });
  }
}

const keyOf = (tenant: string, name: TableName): string => JSON.stringify([tenant, tableKey(name)]);

const found = (table: LoadedTableMessage, known: Pick<FoundTable, 'name' | 'version' | 'metadata'>): FoundTable => ({
  kind: 'found',
  ...known,
  oid: table.oid,
  allowedRoots: rootsOfMessage(table),
  actions: new Set(table.actions),
  policies: table.policies.map(fromPolicyMessage),
  policyVersion: table.policy_version,
  credential: table.key === null ? fileCredential(...table.allowed_roots) : fromKeyMessage(table.key),
});

const missingCode = (status: string): MissingCode =>
  must(
    MISSING_CODES.find((code) => code === status),
    'a table that was not found says what is missing',
  );
