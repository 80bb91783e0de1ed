import { parseJson, printJson, type Json } from '#shared/json.ts';

/** Stands for a secret. */
const HIDDEN = '***';

/**
 * Each form of our secrets, and what is left of one: personal access tokens, invitations and client secrets by their prefixes, tokens by the two
 * objects that a JWT begins with, private keys by their PEM, also when it was cut. No pattern looks at a character more than a few times,
 * however hostile the text.
 */
const FORMS: readonly { readonly mark: RegExp; readonly form: RegExp; readonly mask: string }[] = [
  {
    mark: /skein_(?:pat|inv|cs)_/i,
    form: /(skein_(?:pat|inv|cs)_)[\w-]{8,}/gi,
    mask: `$1${HIDDEN}`,
  },
  // Behind a word it is none; behind an escaped end of a line it may be one.
  { mark: /\.eyJ/i, form: /(?:(?<![\w-])|(?<=\\[nrt]))eyJ[\w-]{5,}\.eyJ[\w-]{5,}(?:\.[\w-]*)?/gi, mask: HIDDEN },
  {
    mark: /PRIVATE KEY-----/,
    form: /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/gs,
    mask: HIDDEN,
  },
];

/**
 * Masks what has the form of a secret of ours, wherever it stands: a user who mistakes a token for its name, or pastes one into a setting, has
 * it kept by nobody. Whoever keeps, lists or logs a text of a client calls this.
 */
export function maskSecrets(text: string): string {
  let masked = text;
  for (const { mark, form, mask } of FORMS) if (mark.test(masked)) masked = masked.replaceAll(form, mask);
  return masked;
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
