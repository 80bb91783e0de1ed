/** The text that replaces a secret. */
export const REDACTED = '***';

const USER_AND_PASSWORD = /(:\/\/[^\s/:@,]*):[^\s/@,]*@/g;
const PARAMETER = /[?&]([^=&\s?]*)=/g;
const SECRET_NAME = /password|secret|token|key/i;
const VALUE = /[^&\s,]*/y;

/** Replaces the password of every URL in a text, also one among the query parameters. */
export function redactUrls(text: string): string {
  const url = text.replaceAll(USER_AND_PASSWORD, `$1:${REDACTED}@`);
  let redacted = '';
  let at = 0;
  for (const { 0: parameter, 1: name = '', index } of url.matchAll(PARAMETER)) {
    // A match inside a secret is part of that secret.
    if (index < at || !SECRET_NAME.test(name)) continue;
    redacted += url.slice(at, index + parameter.length) + REDACTED;
    VALUE.lastIndex = index + parameter.length;
    VALUE.test(url);
    at = VALUE.lastIndex;
  }
  return redacted + url.slice(at);
}
