import { SkeinError } from '#shared/error.ts';
import { EVERYTHING, type Page } from '../store/postgres/page.ts';
import type { RestRequest } from './rest-operation.ts';

/**
 * Paging of lists (REST specification, `PageToken`): without `pageToken` a list is returned whole; an empty token starts paging. A token is
 * the last name of the previous page, so pages stay right while names come and go.
 */
const PAGE_SIZE_MAX = 1_000;
const TOKEN_PREFIX = 'after:';

/** The page that a request asks for. @throws INVALID_REQUEST */
export function pageOf(request: RestRequest): Page {
  const { pageToken, pageSize } = request.query;
  const size = pageSize === undefined ? PAGE_SIZE_MAX : parseSize(pageSize);
  if (pageToken === undefined) return EVERYTHING;
  return pageToken === '' ? { limit: size } : { after: parseToken(pageToken), limit: size };
}

function parseSize(text: string): number {
  const size = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (size < 1) throw new SkeinError('INVALID_REQUEST', `Invalid pageSize: ${text}`);
  return Math.min(size, PAGE_SIZE_MAX);
}

function parseToken(text: string): string {
  const token = Buffer.from(text, 'base64url').toString();
  if (
    !token.startsWith(TOKEN_PREFIX) ||
    token.includes('\0') ||
    printToken(token.slice(TOKEN_PREFIX.length)) !== text
  ) {
    throw new SkeinError('INVALID_REQUEST', 'Invalid pageToken');
  }
  return token.slice(TOKEN_PREFIX.length);
}

const printToken = (last: string): string => Buffer.from(`${TOKEN_PREFIX}${last}`).toString('base64url');

/** Returns the token of the page that follows `names`; null at the end of the list. */
export function nextPageToken(page: Page, names: readonly string[]): string | null {
  const last = names.at(-1);
  return page.limit !== undefined && names.length === page.limit && last !== undefined ? printToken(last) : null;
}
