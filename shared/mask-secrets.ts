import { parseJson, printJson, type Json } from '#shared/json.ts';

/** Stands for a secret. */
const HIDDEN = '***';

type Form = {
  /** How a secret of this form begins. */
  readonly start: RegExp;
  /** Where it ends that has begun so, given the end of this beginning; undefined when it is none. */
  readonly endOf: (text: string, from: number) => number | undefined;
  /** The beginning says what was here, and stays. */
  readonly keepsStart?: true;
};

/**
 * Each form of our secrets: personal access tokens, invitations, client secrets, authorization codes and secrets of browsers by their prefixes,
 * refresh tokens by theirs, with both parts, access tokens by the two objects that a JWT begins with, private keys by their PEM, also when it was cut. No character is looked at more than a few times, however hostile the text; the
 * ends of long words are no pattern's work, because its stack grows with them.
 */
const FORMS: readonly Form[] = [
  { start: /skein_(?:pat|inv|cs|code|si|out)_(?=[\w-]{8})/gi, endOf: endOfWord, keepsStart: true },
  { start: /skein_p?rt_(?=[\w-]{8})/gi, endOf: endOfPair, keepsStart: true },
  // Behind a word it is none; behind an escaped end of a line it may be one.
  { start: /(?:(?<![\w-])|(?<=\\[nrt]))eyJ(?=[\w-]{5})/gi, endOf: endOfToken },
  { start: /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/g, endOf: endOfKey },
];

/** The ASCII characters of words, with the hyphen. */
const IN_WORDS = Array.from({ length: 128 }, (_, code) => /[\w-]/.test(String.fromCharCode(code)));

function endOfWord(text: string, from: number): number {
  let end = from;
  while (IN_WORDS[text.charCodeAt(end)] === true) end += 1;
  return end;
}

/** An id and a secret with a dot between them. */
function endOfPair(text: string, from: number): number {
  const end = endOfWord(text, from);
  return text[end] === '.' ? endOfWord(text, end + 1) : end;
}

function endOfToken(text: string, from: number): number | undefined {
  const head = endOfWord(text, from);
  if (!/^\.eyJ[\w-]{5}$/i.test(text.slice(head, head + 9))) return undefined;
  const body = endOfWord(text, head + 1);
  return text[body] === '.' ? endOfWord(text, body + 1) : body;
}

function endOfKey(text: string, from: number): number {
  const end = /-----END [A-Z ]{0,40}PRIVATE KEY-----/g;
  end.lastIndex = from;
  return end.test(text) ? end.lastIndex : text.length;
}

/**
 * Masks what has the form of a secret of ours, wherever it stands: a user who mistakes a token for its name, or pastes one into a setting, has
 * it kept by nobody. Whoever keeps, lists or logs a text of a client calls this.
 */
export function maskSecrets(text: string): string {
  return FORMS.reduce(maskForm, text);
}

function maskForm(text: string, { start, endOf, keepsStart }: Form): string {
  let hidden = '';
  let at = 0;
  start.lastIndex = 0;
  for (let found = start.exec(text); found !== null; found = start.exec(text)) {
    const end = endOf(text, start.lastIndex);
    if (end === undefined) continue;
    hidden += text.slice(at, found.index) + (keepsStart === true ? found[0] : '') + HIDDEN;
    at = end;
    start.lastIndex = end;
  }
  return at === 0 ? text : hidden + text.slice(at);
}

/** Whether a text has anything of the form of a secret of ours. */
export const looksSecret = (text: string): boolean => maskSecrets(text) !== text;

/**
 * The same for a JSON text, which stays one: its strings are masked each by itself, because a private key that was cut in one of them would
 * take along all that stands behind it.
 */
export function maskJson(text: string): string {
  if (!looksSecret(text)) return text;
  let value: Json;
  try {
    value = parseJson(text);
  } catch {
    return maskSecrets(text);
  }
  return printJson(masked(value));
}

function masked(value: Json): Json {
  if (typeof value === 'string') return maskSecrets(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(masked);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [maskSecrets(key), masked(part)]));
}
