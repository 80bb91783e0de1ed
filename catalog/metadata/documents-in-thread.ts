import { inThread } from '#shared/thread/work.ts';
import { parseBodyOfFew } from './body.ts';
import { COMMIT_CREATES, CREATE_HEAD } from './commit-source.ts';
import { IS_PROTECTED } from './protected-property.ts';
import { TABLE_FACTS } from './relation-facts.ts';

/** The functions of this room that worker threads run on large metadata documents and request bodies. */

export const parseRequestBody = inThread(parseBodyOfFew);
export const commitCreates = inThread(COMMIT_CREATES.here);
export const createHead = inThread(CREATE_HEAD.here);
export const tableFacts = inThread(TABLE_FACTS.here);
export const isProtectedTable = inThread(IS_PROTECTED.here);
