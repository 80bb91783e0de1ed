import { ScimError } from './scim-error.ts';

/** One comparison of a filter: `userName eq "x"`, `userName sw "x"`. */
export type Comparison = { readonly attribute: string; readonly operator: 'eq' | 'sw'; readonly value: string };

const LENGTH_MAX = 2_000;
const COMPARISONS_MAX = 10;
/** An attribute, an operator and a text as JSON writes it. */
const COMPARISON =
  /^\s*([A-Za-z][\w.:]*(?:\[\s*type\s+eq\s+"\w{1,40}"\s*\](?:\.\w+)?)?)\s+(eq|sw)\s+("(?:[^"\\]|\\.)*"|true|false)\s*/i;

/** Attributes by the spellings that Entra and Okta use, in small letters, without the kind of an address. */
const NAMES: Readonly<Record<string, string>> = {
  id: 'id',
  username: 'userName',
  externalid: 'externalId',
  emails: 'emails',
  'emails.value': 'emails',
  displayname: 'displayName',
  members: 'members',
  'members.value': 'members',
};

/**
 * Reads a filter: comparisons by `eq` or `sw`, joined by `and`. @param attributes those that the resource has
 * @throws ScimError invalidFilter
 */
export function parseFilter(text: string, attributes: readonly string[]): readonly Comparison[] {
  const refuse = (why: string): never => {
    throw new ScimError(400, why, { type: 'invalidFilter' });
  };
  if (text.length > LENGTH_MAX) return refuse('the filter is too long');
  const found: Comparison[] = [];
  for (let rest = text; ;) {
    const match = COMPARISON.exec(rest);
    if (match === null) return refuse('a filter is: attribute eq "value", sw for its beginning, joined by and');
    const [whole, written = '', operator = '', value = ''] = match;
    const attribute = NAMES[withoutKind(written.toLowerCase())];
    if (attribute === undefined || !attributes.includes(attribute)) {
      return refuse(`a filter is about ${attributes.join(', ')}`);
    }
    found.push({ attribute, operator: operator.toLowerCase() as 'eq' | 'sw', value: textOf(value) });
    rest = rest.slice(whole.length);
    if (rest === '') return found;
    const and = /^and\s/i.exec(rest);
    if (and === null || found.length >= COMPARISONS_MAX) return refuse('comparisons are joined by and, ten at most');
    rest = rest.slice(and[0].length);
  }
}

/** `emails[type eq "work"].value` is about emails of all kinds. */
function withoutKind(written: string): string {
  const [begin, end] = [written.indexOf('['), written.indexOf(']')];
  return begin === -1 ? written : written.slice(0, begin) + written.slice(end + 1);
}

function textOf(value: string): string {
  if (!value.startsWith('"')) return value.toLowerCase();
  const refused = (cause?: unknown): ScimError =>
    new ScimError(400, 'a value of the filter is no text', { type: 'invalidFilter', cause });
  let text: string;
  try {
    text = JSON.parse(value) as string;
  } catch (cause) {
    throw refused(cause);
  }
  if (text.includes('\0') || !text.isWellFormed()) throw refused();
  return text;
}
