import type { StatementReader } from '../../statement/statement-reader.ts';
import { takePairs } from '../../statement/take-pairs.ts';

/** Properties as they are written: the last value of a key would win, so a key may stand once. */
export type Properties = readonly (readonly [key: string, value: string])[];

/** `('key' = 'value', ...)`; a key may be a word, a value a word or a number. @throws SYNTAX_ERROR */
export function takeProperties(reader: StatementReader): Properties {
  if (!reader.takeSymbol('(')) throw reader.expected("'('");
  const properties = takePairs(reader, {
    key: () => takePropertyKey(reader),
    value: () => {
      if (!reader.takeSymbol('=')) throw reader.expected("'='");
      return takeValue(reader);
    },
    goesOn: () => reader.takeSymbol(','),
    twice: (key) => `the property ${key} is given twice`,
  });
  if (!reader.takeSymbol(')')) throw reader.expected("',' or ')'");
  return [...properties];
}

/** @throws SYNTAX_ERROR */
export function takePropertyKey(reader: StatementReader): string {
  const key = reader.takeString() ?? reader.takeName();
  if (key === null || key === '') throw reader.expected('the name of a property');
  return key;
}

function takeValue(reader: StatementReader): string {
  const sign = reader.takeSymbol('-') ? '-' : '';
  const number = reader.takeNumber();
  if (number !== null) return `${sign}${number}`;
  const value = sign === '' ? (reader.takeString() ?? reader.takeName()) : null;
  if (value === null) throw reader.expected('the value of a property');
  return value;
}
