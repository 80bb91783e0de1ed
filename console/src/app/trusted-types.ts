/**
 * Lets scripts of the page set no markup but the empty text, with which libraries clear an element: whatever a table, a comment or an error
 * contains, it is text.
 */
export function allowOnlyEmptyMarkup(): void {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
  trustedTypes?.createPolicy('default', {
    createHTML: (markup) => {
      if (markup !== '') throw new TypeError('the console sets no markup');
      return '';
    },
  });
}

type TrustedTypes = {
  createPolicy(name: string, rules: { readonly createHTML: (markup: string) => string }): unknown;
};
