import { SkeinError, type ErrorData } from '#shared/error.ts';
import { sizedWork } from '#shared/thread/sized-work.ts';
import type { ParameterEdit } from '../../../statement/bind-parameters.ts';
import { anyLists, type Lists } from '../text/any-lists.ts';
import { readCopy, type CopyStatement } from '../copy/copy-statement.ts';
import { driverLiterals } from '../text/driver-literals.ts';
import { splitStatements, type PartOfText } from '../text/split-statements.ts';
import { WireError } from '../message/wire-error.ts';

/** Functions that read texts of clients: a thread has long ones, because the main thread serves everybody. */

/** A COPY, or its fault. Errors lose their classes between threads. */
type ReadCopy =
  | { readonly kind: 'copy'; readonly copy: CopyStatement | null }
  | { readonly kind: 'wire'; readonly sqlState: string; readonly message: string }
  | { readonly kind: 'fault'; readonly error: ErrorData };

export function readCopyText(sql: string): ReadCopy {
  try {
    return { kind: 'copy', copy: readCopy(sql) };
  } catch (error) {
    if (error instanceof WireError) return { kind: 'wire', sqlState: error.sqlState, message: error.message };
    return { kind: 'fault', error: SkeinError.of(error).toData() };
  }
}

export const splitText = (text: string): readonly PartOfText[] => splitStatements(text);
export const literalsOf = (sql: string): readonly ParameterEdit[] => driverLiterals(sql);
export const listsOfAny = (sql: string): Lists | undefined => anyLists(sql);

const MODULE = new URL('./read-texts-in-thread.ts', import.meta.url);
export const READ_COPY = sizedWork(readCopyText, MODULE, 'readCopyOfText');
export const SPLIT_TEXT = sizedWork(splitText, MODULE, 'splitLongText');
export const DRIVER_LITERALS = sizedWork(literalsOf, MODULE, 'literalsOfText');
export const ANY_LISTS = sizedWork(listsOfAny, MODULE, 'listsOfText');
