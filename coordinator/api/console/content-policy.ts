/** The place in the page's text where each answer puts a nonce of its own: CodeMirror makes style elements, which need it. */
export const NONCE_PLACE = '__NONCE__';

/** The policy of the page: it may load and run its own files, and nothing of anybody else. */
export const contentPolicy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types default',
  ].join('; ');
