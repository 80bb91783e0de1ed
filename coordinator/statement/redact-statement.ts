import { ERROR_MESSAGE_BYTES_MAX } from '#shared/error.ts';
import { stringText, Tokenizer } from './tokenizer.ts';

const SECRET_WORDS = /PASSWORD|SECRET|TOKEN/i;
const MASK = "'***'";
/** From the first quote to the last, because messages repeat parts of the statement, perhaps cut. */
const QUOTED = /['"].*['"]/s;
/** Most literals that are searched in a message; a statement with more keeps no message. */
const LITERALS_MAX = 1_000;
/** Longest value that is searched in a message; a statement with a longer one keeps no message. */
const SECRET_LENGTH_MAX = ERROR_MESSAGE_BYTES_MAX;
/** Shorter values are no secrets, and masking them would break the words of the message. */
const SECRET_LENGTH_MIN = 3;

/** Characters of a statement that history and logs keep. */
const KEPT_MAX = 100_000;

/** A statement as history and logs keep it. */
export type RedactedStatement = {
  /** Without the values of its secrets; a long one is cut. */
  readonly text: string;
  /** The secrets that no message about it may repeat; null when there are too many, and then no message is kept. */
  readonly secrets: readonly string[] | null;
};

/**
 * The statement as history and logs keep it: when it holds PASSWORD, SECRET or TOKEN anywhere, every string literal is masked, and so is
 * all that follows a quote that is never closed. `isSecret`: whatever the statement holds.
 */
export function redactStatement(text: string, isSecret = mentionsSecrets(text)): RedactedStatement {
  if (!isSecret) return { text: shortened(text), secrets: [] };
  const masked = new MaskedText(text);
  maskLiterals(text, masked);
  return masked.finish();
}

/** Whether the values of a statement may be secrets. */
export const mentionsSecrets = (text: string): boolean => SECRET_WORDS.test(text);

/**
 * An error's message as history keeps it. If literals of the statement are masked, the message loses their values and everything in quotes.
 */
export function redactMessage(message: string, { secrets }: RedactedStatement): string {
  if (secrets === null) return MASK;
  if (secrets.length === 0) return message;
  let masked = message.replace(QUOTED, MASK);
  for (const value of secrets) if (value.length >= SECRET_LENGTH_MIN) masked = masked.replaceAll(value, '***');
  return masked;
}

const shortened = (text: string): string => (text.length > KEPT_MAX ? `${text.slice(0, KEPT_MAX)}...` : text);

/** A text whose literals are being masked. It keeps only as much as history does, so a long statement costs no memory. */
class MaskedText {
  readonly #text: string;
  #masked = '';
  /** Start of the text that is not in `#masked` yet. */
  #rest = 0;
  #secrets: string[] | null = [];

  constructor(text: string) {
    this.#text = text;
  }

  /** Start of the text that is not masked yet. */
  get rest(): number {
    return this.#rest;
  }

  /** Whether more literals would change nothing. */
  get isFull(): boolean {
    return this.#secrets === null && this.#masked.length > KEPT_MAX;
  }

  mask(start: number, end: number, value: string): void {
    if (this.#masked.length <= KEPT_MAX) {
      this.#masked += this.#text.slice(this.#rest, Math.min(start, this.#rest + KEPT_MAX + 1)) + MASK;
    }
    this.#rest = end;
    // A message may hold the beginning of a value that is longer than itself.
    const isTooMuch = value.length > SECRET_LENGTH_MAX || (this.#secrets?.length ?? 0) >= LITERALS_MAX;
    if (isTooMuch) this.#secrets = null;
    else this.#secrets?.push(value);
  }

  finish(): RedactedStatement {
    const rest = this.#masked.length > KEPT_MAX ? '' : this.#text.slice(this.#rest, this.#rest + KEPT_MAX + 1);
    return { text: shortened(this.#masked + rest), secrets: this.#secrets };
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

/** Returns the value of a quote that is never closed. */
const openValue = (rest: string): string => rest.replace(/^(?:['"]|\$[^$]*\$|\/\*)/, '').replaceAll("''", "'");
