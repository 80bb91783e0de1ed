import { SkeinError } from '#shared/error.ts';
import type { Asker } from '#shared/fair/asker.ts';
import type { SizedWork } from '#shared/thread/sized-work.ts';
import type { ClientTexts } from '../../../client-texts.ts';
import type { ParameterEdit } from '../../../statement/bind-parameters.ts';
import type { DerivedText } from '../../../statement/derived-text.ts';
import { mayHaveLists, type Lists } from '../text/any-lists.ts';
import type { CopyStatement } from '../copy/copy-statement.ts';
import { mayHaveLiterals, withDriverLiterals } from '../text/driver-literals.ts';
import type { MessageStatement } from '../message/message-statement.ts';
import { ANY_LISTS, DRIVER_LITERALS, READ_COPY, SPLIT_TEXT } from './read-texts.ts';
import type { PartOfText } from '../text/split-statements.ts';
import { StatementError, WireError } from '../message/wire-error.ts';

/** Does work that a CancelRequest ends. */
type Abortable = <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>;

/** Reads the texts of one connection's statements, long ones in a thread. */
export class TextReader {
  readonly #texts: ClientTexts;
  readonly #asker: Asker;
  readonly #abortable: Abortable;

  constructor(texts: ClientTexts, { tenant, principal }: Asker, abortable: Abortable) {
    this.#texts = texts;
    this.#asker = { tenant, principal };
    this.#abortable = abortable;
  }

  /** The statements of a text. @throws SkeinError */
  split(text: string): Promise<readonly PartOfText[]> {
    return this.#read(SPLIT_TEXT, text);
  }

  /** The COPY that a statement is; null for one that is the engine's own. @throws StatementError, WireError */
  async copyOf(statement: MessageStatement): Promise<CopyStatement | null> {
    const read = await this.#readOf(READ_COPY, statement);
    if (read.kind === 'copy') return read.copy;
    if (read.kind === 'wire') throw new WireError(read.sqlState, read.message);
    const { text, offset } = statement;
    throw new StatementError(SkeinError.fromData(read.error), { sql: text, offset });
  }

  /** The statement with what drivers write as the engine reads it. @param more edits beside these @throws StatementError */
  async withDriverLiterals(statement: MessageStatement, more: readonly ParameterEdit[] = []): Promise<DerivedText> {
    const { sql } = statement;
    const edits = mayHaveLiterals(sql) ? await this.#readOf(DRIVER_LITERALS, statement) : [];
    return withDriverLiterals(
      sql,
      more.length === 0 ? edits : [...edits, ...more].toSorted((a, b) => a.start - b.start),
    );
  }

  /** The lists of a statement that nobody has declared. @throws SkeinError */
  async anyLists(sql: string): Promise<Lists | undefined> {
    return mayHaveLists(sql) ? this.#read(ANY_LISTS, sql) : undefined;
  }

  /** @throws StatementError */
  async #readOf<Out>(work: SizedWork<string, Out>, { sql, text, offset }: MessageStatement): Promise<Out> {
    try {
      return await this.#read(work, sql);
    } catch (error) {
      throw new StatementError(error, { sql: text, offset });
    }
  }

  #read<Out>(work: SizedWork<string, Out>, text: string): Promise<Out> {
    const about = { asker: this.#asker, what: 'the statement', bytes: text.length };
    return this.#abortable((signal) => this.#texts.work(work, text, { ...about, signal }));
  }
}
