import { memoryUses } from '#shared/memory-uses.ts';
import { LRUCache } from 'lru-cache';
import type { Principal } from '#shared/authorization/principal.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { must } from '#shared/must.ts';
import { tableKey, type LoadedTable, type LoadedView, type TableName } from '../binding/table-source.ts';
import type { AnswerLease, AskedAt } from './answer-lease.ts';
import type { ViewDefinition } from '../binding/view-definition.ts';
import { isReplacedKey } from './replaced-keys.ts';

type FoundTable = Extract<LoadedTable, { kind: 'found' }>;
/** A table or view without its document, which the catalog client keeps by its version. */
type Described = Omit<FoundTable, 'metadata'> | Omit<LoadedView, 'view'>;
type Answer = {
  readonly table: Described;
  /** The answer before this one had the same version: a lease is worth what it costs the writers of tables. */
  readonly isSteady: boolean;
  /** Null: it was asked for without a lease. */
  readonly asked: AskedAt | null;
};

/** Returns the document of this version, if it is still kept. */
type DocumentOf = (tenant: string, name: TableName, version: string) => TableMetadata | ViewDefinition | undefined;

/** Tables whose last answer is kept, over all principals. */
const ANSWERS_MAX = 10_000;

/** Keeps what the catalog last answered to each principal of a table, which is relied on while the lease on that answer lasts. */
export class LastAnswers {
  readonly #answers = new LRUCache<string, Answer>({ max: ANSWERS_MAX });
  readonly #documentOf: DocumentOf;
  readonly #lease: Pick<AnswerLease, 'holds'>;
  /** The claims of a token are one object for as long as it is in use. */
  readonly #principals = new WeakMap<Principal, number>();
  readonly #uses = memoryUses('leased_answers');
  #known = 0;

  constructor(lease: Pick<AnswerLease, 'holds'>, documentOf: DocumentOf) {
    this.#lease = lease;
    this.#documentOf = documentOf;
  }

  /** Keeps what the catalog answered just now to a question of `asked`. */
  keep(
    { principal, names, asked }: { principal: Principal; names: readonly TableName[]; asked: AskedAt | null },
    tables: readonly LoadedTable[],
  ): void {
    for (const [i, table] of tables.entries()) {
      const key = this.#keyOf(principal, must(names[i], 'one answer for each name'));
      if (table.kind === 'missing') this.#answers.delete(key);
      else {
        const isSteady = this.#answers.get(key)?.table.version === table.version;
        this.#answers.set(key, { table: described(table), isSteady, asked });
      }
    }
  }

  /**
   * Returns the tables as they last were; null unless the lease on each answer lasts, the answer came twice with the same version, and the
   * table's document is here. Asks for a lease where that alone is missing.
   */
  leased(principal: Principal, names: readonly TableName[]): readonly LoadedTable[] | null {
    const leased = this.#leased(principal, names);
    this.#uses.count(leased !== null);
    return leased;
  }

  #leased(principal: Principal, names: readonly TableName[]): readonly LoadedTable[] | null {
    const answers = names.map((name) => this.#answers.get(this.#keyOf(principal, name)));
    const tables = this.#withDocuments(principal, names, answers);
    if (tables === null || tables.some(hasOldKey)) return null;
    return answers.every((answer) => this.#lease.holds(answer?.asked ?? null)) ? tables : null;
  }

  #withDocuments(
    { tenant }: Principal,
    names: readonly TableName[],
    answers: readonly (Answer | undefined)[],
  ): readonly LoadedTable[] | null {
    const tables: LoadedTable[] = [];
    for (const [i, name] of names.entries()) {
      const answer = answers[i];
      if (answer?.isSteady !== true) return null;
      const document = this.#documentOf(tenant, name, answer.table.version);
      const table = document === undefined ? null : withDocument(answer.table, document);
      if (table === null) return null;
      tables.push(table);
    }
    return tables;
  }

  #keyOf(principal: Principal, name: TableName): string {
    const known = this.#principals.get(principal) ?? (this.#known += 1);
    this.#principals.set(principal, known);
    return `${known}/${tableKey(name)}`;
  }
}

/** An answer is not relied on when its key has less than this to live: a statement may take a while. */
const KEY_LEFT_MIN_MS = 300_000;

/** Whether the key of a table ends within the time of a statement, or was refused by the store: the catalog gives a newer one. */
const hasOldKey = (table: LoadedTable): boolean =>
  table.kind === 'found' &&
  table.credential.kind !== 'file' &&
  (isReplacedKey(table.credential) || (table.credential.expiresAtMs ?? Infinity) < Date.now() + KEY_LEFT_MIN_MS);

function described(table: FoundTable | LoadedView): Described {
  if (table.kind === 'view') {
    const { view: _view, ...rest } = table;
    return rest;
  }
  const { metadata: _metadata, ...rest } = table;
  return rest;
}

function withDocument(table: Described, document: TableMetadata | ViewDefinition): LoadedTable | null {
  const isView = 'representations' in document;
  if (table.kind === 'view') return isView ? { ...table, view: document } : null;
  return isView ? null : { ...table, metadata: document };
}
