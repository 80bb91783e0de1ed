import { inThread } from '#shared/thread/work.ts';
import { listsOfAny, literalsOf, readCopyText, splitText } from './read-texts.ts';

export const splitLongText = inThread(splitText);
export const literalsOfText = inThread(literalsOf);
export const readCopyOfText = inThread(readCopyText);
export const listsOfText = inThread(listsOfAny);
