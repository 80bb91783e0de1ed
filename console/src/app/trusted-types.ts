/** Scripts of the console's own build: a worker may be one of them. */
const OWN_SCRIPT = /^\/console\/assets\/[\w.-]+\.js$/;

/**
 * Lets scripts of the page set no markup but the empty text, with which libraries clear an element: whatever a table, a comment or an error
 * contains, it is text. A worker may be started of our own build alone.
 */
export function allowOnlyEmptyMarkup(): void {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
  trustedTypes?.createPolicy('default', {
    createHTML: (markup) => {
      if (markup !== '') throw new TypeError('the console sets no markup');
      return '';
    },
    createScriptURL: (text) => {
      const { origin, pathname, search } = new URL(text, location.href);
      if (origin !== location.origin || search !== '' || !OWN_SCRIPT.test(pathname)) {
        throw new TypeError('the console runs no other script');
      }
      return text;
    },
  });
}

type TrustedTypes = {
  createPolicy(
    name: string,
    rules: Readonly<Record<'createHTML' | 'createScriptURL', (text: string) => string>>,
  ): unknown;
};
