import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import { PRIVATE_KINDS } from '#shared/sql/private-statement.ts';
import { identifierText, stringText, Tokenizer, type Token } from '#shared/sql/tokenizer.ts';

/** The words of the statements about users, accounts, tokens, invitations and webhooks (service specification, SQL statements). */
const KEYWORDS: ReadonlySet<string> = new Set(
  `ACCESS ACCOUNT ACCOUNTS ADD ADMINISTRATION ALGORITHM ALTER ANALYZE AND AS AUDIENCES AUDIT CASCADE CLEAR CLIENT_ID CLIENT_SECRET CODE COMMENT CREATE DEFAULT_ROLE DEFAULT_WAREHOUSE DESC DESCRIBE
  DELIVERIES DISABLE DISPLAY_NAME DOMAINS DROP EMAIL EMAIL_CLAIM ENABLED ENROLL EVENTS EXISTS EXPLAIN EXPUNGE FALSE FOR FROM GRANT GRANTS GROUP GROUPS_CLAIM HOLD
  IDENTITY IDENTITY_SOURCE IF INVITATION ISSUER KEYPAIR KEY_ID LABEL
  LEGAL LIKE LIMIT LOG MANAGE MFA MUST_CHANGE_PASSWORD NONE NOT OF OLD OR PASSWORD PATS PERSONAL PREPARE PROVIDER PROVIDERS PROVISION PUBLIC_KEY REASON REDEEM RENAME REPLACE RESET RESTRICT
  RETRY REVOKE ROLE ROLES SCOPE SECRET SELF SERVICE SET SHOW STATUS SUSPEND TO TOKEN TOKENS TOTP TRUE TRUST TTL UNDROP UNLOCK UNSET UNSUSPEND URL USER USERNAME_CLAIM USERS VERIFY
  WEBHOOK WEBHOOKS WHERE WITH`.split(/\s+/),
);

/** Keywords that a value follows, with `=` or without. A word there is the value, also when it is spelled like a keyword. */
const BEFORE_VALUES: ReadonlySet<string> = new Set(
  `ALGORITHM AUDIENCES CLIENT_ID CLIENT_SECRET CODE COMMENT DEFAULT_ROLE DEFAULT_WAREHOUSE DISPLAY_NAME DOMAINS EMAIL EMAIL_CLAIM EVENTS FOR GROUPS_CLAIM
  IDENTITY_SOURCE INVITATION ISSUER KEY_ID LABEL LIKE
  MUST_CHANGE_PASSWORD PASSWORD PUBLIC_KEY REASON SCOPE SECRET STATUS TO TTL URL USERNAME_CLAIM`.split(/\s+/),
);
/** Symbols behind which a keyword may stand again. */
const BETWEEN: ReadonlySet<string> = new Set([',', ')', ';']);
const IF_EXISTS: ReadonlySet<string> = new Set(['IF', 'NOT', 'EXISTS']);

/** Receives the parts of a text in their order. */
export interface PrivateParts {
  /** Whether more parts would change nothing. */
  readonly isFull: boolean;
  /** A keyword, or the object's name. */
  keep(text: string): void;
  /** A part that is not kept; `value` is its meaning without quotes and escapes. */
  hide(text: string, value: string): void;
}

/**
 * Divides the text of a statement about users, accounts, tokens, invitations or webhooks into the parts that may be kept and those that
 * are hidden. Keywords of its grammar are kept where no value is expected, and the one name behind the kind of object: nothing else, no
 * comment either, however the text is spelled.
 */
export function dividePrivate(text: string, parts: PrivateParts): void {
  const tokens = new Tokenizer(text);
  const grammar = new Grammar();
  let end = 0;
  try {
    for (let token = tokens.next(); token.kind !== 'end' && !parts.isFull; token = tokens.next()) {
      const written = text.slice(token.start, token.end);
      // A word that touches the one before it belongs to it: hunter2!CASCADE.
      if (grammar.keeps(written, token, token.start === end)) parts.keep(written);
      else parts.hide(written, valueOf(text, token));
      ({ end } = token);
    }
  } catch {
    const open = text.slice(end).trimStart();
    parts.hide(open, openValue(open));
  }
}

function valueOf(text: string, token: Token): string {
  if (token.kind === 'string') return stringText(text, token);
  if (token.kind === 'bits') return text.slice(token.start + 2, token.end - 1);
  return identifierText(text, token);
}

/** Returns the value of a quote that is never closed. */
export const openValue = (rest: string): string =>
  rest.replace(/^(?:[eE]?'|"|\$[^$]*\$|\/\*)/, '').replaceAll("''", "'");

/** Decides token by token, from left to right. */
class Grammar {
  #expectsValue = false;
  /** The last token was hidden. */
  #isHidden = false;
  /** The name of the object stands next, but for IF NOT EXISTS. */
  #expectsName = false;
  #hasKind = false;
  #before = '';

  keeps(written: string, { kind }: Token, touches: boolean): boolean {
    const word = kind === 'word' ? foldKeyword(written) : '';
    if (this.#expectsName && !IF_EXISTS.has(word)) {
      this.#expectsName = false;
      if (kind === 'word' || kind === 'quoted') return this.#kept(word, false);
    }
    if (kind === 'symbol') {
      this.#symbol(written);
      return this.#hidden();
    }
    // GRANT and REVOKE say whose role it is.
    if ((this.#before === 'TO' || this.#before === 'FROM') && (word === 'USER' || word === 'SERVICE')) {
      this.#expectsName = word === 'USER';
      return this.#kept(word, false);
    }
    const isKeyword = KEYWORDS.has(word) && !this.#expectsValue && !(touches && this.#isHidden);
    if (!isKeyword) {
      // An unknown word is taken for a keyword that is misspelt, and has a value behind it.
      this.#expectsValue = kind === 'word' && !this.#expectsValue;
      return this.#hidden();
    }
    const isKind = PRIVATE_KINDS.has(word) || word === 'ROLE';
    if (isKind && (!this.#hasKind || this.#before === 'SERVICE')) {
      this.#hasKind = true;
      // An invitation has no name, and a token has one only where it is called a personal access token.
      this.#expectsName = word !== 'INVITATION' && (word !== 'TOKEN' || this.#before === 'ACCESS');
    }
    return this.#kept(word, BEFORE_VALUES.has(word));
  }

  #symbol(symbol: string): void {
    if (symbol === '=') this.#expectsValue = true;
    else if (BETWEEN.has(symbol)) this.#expectsValue = false;
  }

  #kept(word: string, expectsValue: boolean): true {
    this.#before = word;
    this.#expectsValue = expectsValue;
    this.#isHidden = false;
    return true;
  }

  #hidden(): false {
    this.#before = '';
    this.#isHidden = true;
    return false;
  }
}
