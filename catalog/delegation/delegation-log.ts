import type { Principal } from '#shared/authorization/principal.ts';
import { cutText } from '#shared/cut-text.ts';
import type { Logger } from '#shared/log/logger.ts';
import { displayIdent, type TableIdent } from '../metadata/object-name.ts';

/** Time after which signatures that were granted are told together. */
const TOLD_AFTER_MS = 60_000;
/** Principals, tables and methods that are counted at once; more are told earlier. */
const COUNTED_MAX = 10_000;

/** The request of a principal for files. */
export type Asked = {
  readonly event: 'vend' | 'sign';
  readonly principal: Principal;
  /** Catalog and names; null = the request names no table. */
  readonly table: { readonly catalog: string; readonly ident: TableIdent } | null;
  /** `read` or `write` for keys, the HTTP method of a request to the store. */
  readonly method: string;
  /** Location of the object or of the folder. */
  readonly key: string;
};

/** Bytes of a key that a line has. */
const KEY_BYTES_MAX = 2_000;

type Line = {
  readonly event: string;
  readonly tenant: string;
  readonly principal: string;
  readonly table: string;
  readonly method: string;
};

/**
 * The record of who got access to files beside the engine. Each key and each refusal is a line of its own; signatures that were granted are
 * counted, because an engine asks for thousands.
 */
export class DelegationLog implements Disposable {
  readonly #log: Logger;
  readonly #counts = new Map<string, { readonly line: Line; count: number }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @param note that the line of a key has as its reason */
  granted(asked: Asked, note: string | null = null): void {
    const line = lineOf(asked);
    if (asked.event === 'vend') {
      this.#log.info(
        { ...line, key: cutText(asked.key, KEY_BYTES_MAX), verdict: 'granted', reason: note },
        'a key for the files of a table was given',
      );
      return;
    }
    this.#log.debug(
      { ...line, key: cutText(asked.key, KEY_BYTES_MAX), verdict: 'granted', reason: null },
      'a request to the store was signed',
    );
    const id = Object.values(line).join('\0');
    const counted = this.#counts.get(id);
    if (counted === undefined) this.#counts.set(id, { line, count: 1 });
    else counted.count += 1;
    if (this.#counts.size >= COUNTED_MAX) this.#tell();
    else this.#timer ??= setTimeout(() => this.#tell(), TOLD_AFTER_MS).unref();
  }

  refused(asked: Asked, reason: string): void {
    this.#log.info(
      { ...lineOf(asked), key: cutText(asked.key, KEY_BYTES_MAX), verdict: 'refused', reason },
      'access to the files of a table was refused',
    );
  }

  #tell(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const { line, count } of this.#counts.values()) {
      this.#log.info({ ...line, verdict: 'granted', reason: null, count }, 'requests to the store were signed');
    }
    this.#counts.clear();
  }

  /** Tells what is counted. */
  [Symbol.dispose](): void {
    this.#tell();
  }
}

const lineOf = ({ event, principal, table, method }: Asked): Line => ({
  event,
  tenant: principal.tenant,
  principal: principal.sub,
  table: table === null ? '' : `${table.catalog}.${displayIdent(table.ident)}`,
  method,
});
