import { ERROR_MESSAGE_BYTES_MAX, SkeinError } from '#shared/error.ts';
import { looksSecret, maskSecrets } from '#shared/mask-secrets.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { dividePrivate, openValue } from './mask-private.ts';
import { stringText, Tokenizer } from '#shared/sql/tokenizer.ts';

const HIDDEN = '***';
const MASK = `'${HIDDEN}'`;
/** From the first quote to the last, or to the end after a quote alone, because messages repeat parts of the statement, perhaps cut. */
const QUOTED = /['"](?:.*['"]|.*$)/s;
/** Most hidden parts that are searched in a message; a statement with more keeps no message. */
const SECRETS_MAX = 1_000;
/** Longest value that is searched in a message; a statement with a longer one keeps no message. */
const SECRET_LENGTH_MAX = ERROR_MESSAGE_BYTES_MAX;
const WORD = /[\w\u0080-\uffff]+/g;
/** Shorter values are no secrets, and masking them would break the words of the message. */
const SECRET_LENGTH_MIN = 3;

/** Characters of a statement that history and logs keep. */
const KEPT_MAX = 100_000;

/** A statement as history and logs keep it. */
export type RedactedStatement = {
  /** Without the values of its secrets; a long one is cut. */
  readonly text: string;
  /** The values that no message about it may repeat; null when there are too many, and then no message is kept. */
  readonly secrets: readonly string[] | null;
};

/**
 * How much of a statement is kept: all of it; all but its literals (EXECUTE, whose literals are the values of parameters); the keywords and
 * one name (statements about users, accounts, tokens, invitations and webhooks).
 */
export type Privacy = 'open' | 'values' | 'private';

/** The statement as history and logs keep it. What it is decides, never the words in it. */
export function redactStatement(text: string, privacy: Privacy): RedactedStatement {
  if (privacy === 'open') return { text: shortened(maskSecrets(text)), secrets: [] };
  if (privacy === 'values') {
    const masked = new MaskedText(text);
    maskLiterals(text, masked);
    return withoutForms(masked.finish());
  }
  const kept = new KeptParts();
  dividePrivate(text, kept);
  return withoutForms(kept.finish());
}

/** The name of a private statement is kept, and a literal may be a number: neither may be a secret by its form. */
const withoutForms = ({ text, secrets }: RedactedStatement): RedactedStatement => ({
  text: maskSecrets(text),
  secrets,
});

/** An error's message as history keeps it: if the statement hides values, without all that stands in quotes, and without these values. */
export function redactMessage(text: string, { secrets }: RedactedStatement): string {
  if (secrets === null) return MASK;
  const message = maskSecrets(text);
  if (secrets.length === 0) return message;
  let masked = message.replace(QUOTED, MASK);
  // The longest first: a shorter value may be a part of it. Names and keywords are folded in messages, so the letters A to Z compare without case.
  for (const value of secrets.toSorted((one, other) => other.length - one.length)) {
    if (value.length >= SECRET_LENGTH_MIN) masked = withoutValue(masked, value);
  }
  return masked;
}

function withoutValue(message: string, value: string): string {
  const [folded, wanted] = [foldIdentifier(message), foldIdentifier(value)];
  let masked = '';
  let at = 0;
  for (let found = folded.indexOf(wanted); found >= 0; found = folded.indexOf(wanted, at)) {
    masked += message.slice(at, found) + HIDDEN;
    at = found + wanted.length;
  }
  return masked + message.slice(at);
}

/** An error as logs keep it. One of a statement that hides values loses its cause, and its stack tells places only. */
export function redactError(error: SkeinError, redacted: RedactedStatement): SkeinError {
  if (redacted.secrets?.length === 0 && !looksSecret(error.message)) return error;
  const masked = new SkeinError(error.code, redactMessage(error.message, redacted), { position: error.position });
  const places = error.stack?.slice(error.stack.search(/\n {4}at /)) ?? '';
  masked.stack = `${masked.name}: ${masked.message}${places.startsWith('\n') ? places : ''}`;
  return masked;
}

const shortened = (text: string): string => (text.length > KEPT_MAX ? `${text.slice(0, KEPT_MAX)}...` : text);

/** The values that a statement hides. */
class Secrets {
  #values: Set<string> | null = new Set();

  /** Null when there are too many, or one is too long: a message may hold the beginning of a value that is longer than itself. */
  get values(): readonly string[] | null {
    return this.#values === null ? null : [...this.#values];
  }

  get areLost(): boolean {
    return this.#values === null;
  }

  add(value: string): void {
    const isTooMuch = value.length > SECRET_LENGTH_MAX || (this.#values?.size ?? 0) >= SECRETS_MAX;
    if (isTooMuch) this.#values = null;
    else this.#values?.add(value);
  }
}

/** The kept parts of a private statement, and one mask for each run of hidden ones. */
class KeptParts {
  #text = '';
  #isHidden = false;
  readonly #secrets = new Secrets();

  get isFull(): boolean {
    return this.#secrets.areLost && this.#text.length > KEPT_MAX;
  }

  keep(text: string): void {
    this.#isHidden = false;
    this.#add(text.slice(0, KEPT_MAX + 1));
  }

  hide(text: string, value: string): void {
    this.#secrets.add(text);
    this.#secrets.add(value);
    // A quote that is not closed where it should be holds more than a value, and a message may name any word of it.
    if (!this.#secrets.areLost) for (const [word] of value.matchAll(WORD)) this.#secrets.add(word);
    if (!this.#isHidden) this.#add(HIDDEN);
    this.#isHidden = true;
  }

  finish(): RedactedStatement {
    return { text: shortened(this.#text), secrets: this.#secrets.values };
  }

  #add(part: string): void {
    if (this.#text.length <= KEPT_MAX) this.#text += this.#text === '' ? part : ` ${part}`;
  }
}

/** A text whose literals are being masked. It keeps only as much as history does, so a long statement costs no memory. */
class MaskedText {
  readonly #text: string;
  #masked = '';
  /** Start of the text that is not in `#masked` yet. */
  #rest = 0;
  readonly #secrets = new Secrets();

  constructor(text: string) {
    this.#text = text;
  }

  /** Start of the text that is not masked yet. */
  get rest(): number {
    return this.#rest;
  }

  /** Whether more literals would change nothing. */
  get isFull(): boolean {
    return this.#secrets.areLost && this.#masked.length > KEPT_MAX;
  }

  mask(start: number, end: number, value: string): void {
    if (this.#masked.length <= KEPT_MAX) {
      this.#masked += this.#text.slice(this.#rest, Math.min(start, this.#rest + KEPT_MAX + 1)) + MASK;
    }
    this.#rest = end;
    this.#secrets.add(value);
  }

  finish(): RedactedStatement {
    const rest = this.#masked.length > KEPT_MAX ? '' : this.#text.slice(this.#rest, this.#rest + KEPT_MAX + 1);
    return { text: shortened(this.#masked + rest), secrets: this.#secrets.values };
  }
}

function maskLiterals(text: string, masked: MaskedText): void {
  const tokens = new Tokenizer(text);
  try {
    for (let token = tokens.next(); token.kind !== 'end' && !masked.isFull; token = tokens.next()) {
      const { kind, start, end } = token;
      if (kind === 'string') masked.mask(start, end, stringText(text, token));
      else if (kind === 'bits') masked.mask(start, end, text.slice(start + 2, end - 1));
    }
  } catch {
    const { rest } = masked;
    const open = text.slice(rest).search(/['"$]|\/\*/);
    const start = open < 0 ? rest : rest + open;
    masked.mask(start, text.length, openValue(text.slice(start)));
  }
}
