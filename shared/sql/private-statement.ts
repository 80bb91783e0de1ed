import { foldKeyword } from './fold-identifier.ts';
import { identifierText, Tokenizer, type Token } from './tokenizer.ts';

/**
 * Statements about these objects carry passwords, codes, keys and tokens. History and logs keep their keywords and the object's name only
 * (`redact-statement.ts`).
 */
export const PRIVATE_KINDS: ReadonlySet<string> = new Set([
  'USER',
  'ACCOUNT',
  'TOKEN',
  'INVITATION',
  'WEBHOOK',
  'PROVIDER',
]);

/** Further words of statements about principals. They are words of other statements, too, so a text that does not parse needs a verb before. */
const FURTHER_KINDS: ReadonlySet<string> = new Set(
  'ROLE ROLES USERS ACCOUNTS TOKENS WEBHOOKS PROVIDERS GRANTS MANAGE AUDIT'.split(' '),
);
const VERBS: ReadonlySet<string> = new Set('CREATE ALTER DROP UNDROP GRANT REVOKE SHOW DESCRIBE DESC'.split(' '));

/** The kind of object stands among so many words at the start of a statement: `CREATE PERSONAL ACCESS TOKEN`. */
const HEAD_WORDS = 4;
/** Words that may stand before the words of any statement, or between them. They are not counted. */
const UNCOUNTED: ReadonlySet<string> = new Set(['EXPLAIN', 'ANALYZE', 'OR', 'REPLACE']);
const ANY_KIND = /\b(?:USER|ACCOUNT|TOKEN|INVITATION|WEBHOOK|PROVIDER)\b/i;
/** Keys of these statements that a secret follows, and the verbs that such statements begin with: their kind may be misspelt. */
const SECRET_KEYS: ReadonlySet<string> = new Set(['PASSWORD', 'SECRET', 'CLIENT_SECRET', 'PUBLIC_KEY', 'INVITATION']);
const SECRET_VERBS: ReadonlySet<string> = new Set(['CREATE', 'ALTER', 'REDEEM']);
const PRIVATE_KEY = /PRIVATE KEY-----/;

/** Whether statements that begin with one of these phrases (`Command.words`) are about users, accounts, tokens, invitations or webhooks. */
export const isPrivateKind = (phrases: readonly string[]): boolean =>
  phrases.some((phrase) => phrase.split(' ').some((word) => PRIVATE_KINDS.has(word) || FURTHER_KINDS.has(word)));

/**
 * Whether a text that does not parse may be such a statement: one of the kinds is among its first words outside of comments, or it begins
 * with a verb of these statements and has a quoted value behind a key of a secret, or it has a private key. Each part of a text of several
 * statements counts, and so does the statement within an EXPLAIN or a PREPARE.
 */
export function beginsPrivately(text: string): boolean {
  if (PRIVATE_KEY.test(text)) return true;
  const tokens = new Tokenizer(text);
  const head = new Head();
  let end = 0;
  try {
    for (let token = tokens.next(); token.kind !== 'end'; token = tokens.next()) {
      if (head.add(text, token)) return true;
      ({ end } = token);
    }
    return false;
  } catch {
    // A quote or a comment that is never closed hides the words behind it.
    return head.expectsSecret || (head.isOpen && ANY_KIND.test(text.slice(end)));
  }
}

/** The first words of a statement. */
class Head {
  #counted = 0;
  #brackets = 0;
  #isPrepare = false;
  #hasVerb = false;
  #mayHoldSecret = false;
  /** A key of a secret stands right before. */
  expectsSecret = false;

  /** Whether the next word may name the kind. */
  get isOpen(): boolean {
    return this.#counted < HEAD_WORDS;
  }

  /** Takes the next token of the text. @returns whether it names one of the kinds, or is a secret */
  add(text: string, token: Token): boolean {
    if (token.kind === 'symbol') {
      this.#symbol(text.charAt(token.start));
      return false;
    }
    if (this.expectsSecret && token.kind !== 'word') return true;
    this.expectsSecret =
      this.#mayHoldSecret && token.kind === 'word' && SECRET_KEYS.has(foldKeyword(identifierText(text, token)));
    if (token.kind !== 'word' && token.kind !== 'quoted' && token.kind !== 'string') return false;
    const isWord = token.kind === 'word';
    if (!this.isOpen && !(isWord && this.#isPrepare)) return false;
    const word = foldKeyword(identifierText(text, token));
    const isKind = this.isOpen && (PRIVATE_KINDS.has(word) || (this.#hasVerb && isWord && FURTHER_KINDS.has(word)));
    if (isWord && this.#brackets === 0) this.#count(word);
    return isKind;
  }

  #symbol(symbol: string): void {
    this.expectsSecret &&= symbol === '=';
    if (symbol === ';') {
      this.#counted = 0;
      this.#brackets = 0;
      this.#isPrepare = false;
      this.#hasVerb = false;
      this.#mayHoldSecret = false;
    } else if (symbol === '(') this.#brackets += 1;
    else if (symbol === ')') this.#brackets = Math.max(0, this.#brackets - 1);
  }

  #count(word: string): void {
    if (this.#counted === 0) {
      this.#hasVerb = VERBS.has(word);
      this.#mayHoldSecret = SECRET_VERBS.has(word);
    }
    if (this.#counted === 0 && word === 'PREPARE') this.#isPrepare = true;
    else if (this.#isPrepare && word === 'AS') {
      this.#counted = 0;
      this.#isPrepare = false;
    } else if (!UNCOUNTED.has(word)) this.#counted += 1;
  }
}
