// oxlint-disable-next-line no-control-regex -- it is what is looked for
const CONTROL = /[\u0000-\u001F\u007F]/;

/** Whether a text has a control character, which is in no name and no credential. */
export const holdsControl = (text: string): boolean => CONTROL.test(text);

/**
 * Whether a value from outside can name somebody or something: a text, not empty, without control characters, and without halves of characters, which
 * are all stored as one sign, so that two such names would be one. @param lengthMax UTF-16 units
 */
export const isPlainText = (value: unknown, lengthMax: number): value is string =>
  typeof value === 'string' &&
  value !== '' &&
  value.length <= lengthMax &&
  value.isWellFormed() &&
  !holdsControl(value);
