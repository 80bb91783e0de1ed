/** What stands in the place of a secret. */
export const REDACTED = '***';

/** The text with the password of every URL in it, also one among the query parameters, replaced. */
export const redactUrls = (text: string): string =>
  text
    .replace(/([a-z][a-z0-9+.-]*:\/\/[^\s/:@,]*):[^\s/@,]*@/gi, `$1:${REDACTED}@`)
    .replace(/([?&][^=&\s]*(?:password|secret|token|key)[^=&\s]*=)[^&\s,]*/gi, `$1${REDACTED}`);
