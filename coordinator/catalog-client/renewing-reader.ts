import type { TableReader } from '#shared/iceberg/table-reader.ts';
import type { TenantId } from '#shared/id.ts';
import { SkeinError } from '#shared/error.ts';
import { storeKeyId, type StorageCredential } from '#shared/storage/credential.ts';
import { RENEWALS_MAX } from '#shared/storage/object/store-client.ts';
import { isKeyRefusal } from '#shared/storage/object/store-error.ts';
import type { KeyQuestions } from './fresh-key.ts';

/** A request for a read of a table's files, by a key of the table. */
type Keyed = { readonly tenant: TenantId; readonly credential: StorageCredential };

/**
 * Reads again, by another key, where a store has refused the key that came with the table: it has forgotten it. The threads that read
 * cannot ask for one themselves.
 */
export class RenewingReader implements TableReader {
  readonly #reader: TableReader;
  readonly #keys: Pick<KeyQuestions, 'renewKey'>;

  constructor(reader: TableReader, keys: Pick<KeyQuestions, 'renewKey'>) {
    this.#reader = reader;
    this.#keys = keys;
  }

  readonly files: TableReader['files'] = (request, call, hold) =>
    this.#read(request, (one) => this.#reader.files(one, call, hold));

  readonly columns: TableReader['columns'] = (request, columns, call) =>
    this.#read(request, (one) => this.#reader.columns(one, columns, call));

  readonly numbers: TableReader['numbers'] = (request, call) =>
    this.#read(request, (one) => this.#reader.numbers(one, call));

  readonly inspect: TableReader['inspect'] = (request, call) =>
    this.#each(request, (one) => this.#reader.inspect(one, call));

  readonly sums: TableReader['sums'] = (request, call) => this.#read(request, (one) => this.#reader.sums(one, call));

  readonly changes: TableReader['changes'] = (request, call) =>
    this.#read(request, (one) => this.#reader.changes(one, call));

  readonly list: TableReader['list'] = (request, call) => this.#read(request, (one) => this.#reader.list(one, call));

  readonly rewrite: TableReader['rewrite'] = (request, call) =>
    this.#read(request, (one) => this.#reader.rewrite(one, call));

  readonly remove: TableReader['remove'] = (request, call) =>
    this.#read(request, (one) => this.#reader.remove(one, call));

  readonly newDeletes: TableReader['newDeletes'] = (request, call) =>
    this.#read(request, (one) => this.#reader.newDeletes(one, call));

  readonly find: TableReader['find'] = (request, call) => this.#read(request, (one) => this.#reader.find(one, call));

  readonly unreachable: TableReader['unreachable'] = (request, call) =>
    this.#each(request, (one) => this.#reader.unreachable(one, call));

  readonly orphans: TableReader['orphans'] = (request, call) =>
    this.#each(request, (one) => this.#reader.orphans(one, call));

  async #read<Request extends Keyed, T>(request: Request, read: (request: Request) => Promise<T>): Promise<T> {
    let next = request;
    for (let renewals = 0; ; renewals++) {
      try {
        return await read(next);
      } catch (error) {
        if (renewals === RENEWALS_MAX) throw error;
        next = await this.#renewed(next, error);
      }
    }
  }

  async *#each<Request extends Keyed, T>(
    request: Request,
    read: (request: Request) => AsyncIterable<T>,
  ): AsyncGenerator<T> {
    let isBegun = false;
    let next = request;
    for (let renewals = 0; ; renewals++) {
      try {
        for await (const portion of read(next)) {
          isBegun = true;
          yield portion;
        }
        return;
      } catch (error) {
        if (isBegun || renewals === RENEWALS_MAX) throw error;
        next = await this.#renewed(next, error);
      }
    }
  }

  /** The request with another key. @throws the error when it is none of a key, or when there is no other key */
  async #renewed<Request extends Keyed>(request: Request, error: unknown): Promise<Request> {
    const { tenant, credential } = request;
    if (!isKeyRefusal(SkeinError.of(error)) || credential.kind === 'file' || credential.reach === undefined)
      throw error;
    const next = await this.#keys.renewKey(tenant, credential);
    if (storeKeyId(next) === storeKeyId(credential)) throw error;
    return { ...request, credential: next };
  }
}
