/** Texts in charts. */

export const format = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));

export const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
