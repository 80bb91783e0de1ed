import { foldIdentifier, foldKeyword } from '#shared/sql/fold-identifier.ts';
import { quoteLiteral } from '#shared/sql/quote.ts';

/** Parts of Postgres' templates for times, longest first; the others are letters, and are written as they are unless Postgres knows words with them. */
const PARTS =
  /(?:FM)?(?:Month|MONTH|month|Mon|MON|mon|Day|DAY|day|Dy|DY|dy|HH24|hh24|HH12|hh12|HH|hh|YYYY|yyyy|YYY|YY|yy|IYYY|iyyy|IW|iw|ID|id|IDDD|DDD|ddd|DD|dd|MI|mi|MM|mm|SSSSS|SSSS|SS|ss|MS|ms|US|us|AM|PM|am|pm|Q|q|D|d)|[^]/g;

/** Templates of `strftime` by those of Postgres in capitals: with leading zeros, and without (FM). */
const CODES: Readonly<Record<string, readonly [padded: string, filled: string]>> = {
  YYYY: ['%Y', '%Y'],
  YY: ['%y', ''],
  IYYY: ['%G', ''],
  MM: ['%m', '%-m'],
  DD: ['%d', '%-d'],
  DDD: ['%j', '%-j'],
  HH24: ['%H', '%-H'],
  HH12: ['%I', '%-I'],
  HH: ['%I', '%-I'],
  MI: ['%M', '%-M'],
  SS: ['%S', '%-S'],
  MS: ['%g', ''],
  US: ['%f', ''],
  IW: ['%V', ''],
  ID: ['%u', '%u'],
  AM: ['%p', '%p'],
  PM: ['%p', '%p'],
};

/** Names, whose letters are as large as those of the template. */
const NAMES: Readonly<Record<string, string>> = { MONTH: '%B', MON: '%b', DAY: '%A', DY: '%a' };
/** Names of months and days have so many characters, with spaces behind them. */
const NAME_LENGTH = 9;

/** Signs that begin words of Postgres' templates which are not read here: `CC`, `TZ`, `TH`, `RM`, `J`, `W`, `OF`, `FF3`, `SP`, `BC`. */
const BEGINS_WORD = /[a-z\\]/i;
/** A template of numbers has no letters, or some that are read for no time. */
const isOfNumbers = (template: string): boolean => /[09]/.test(template) && !/[a-z]/i.test(template);

/**
 * The SQL of Postgres' `to_char(time, template)`: `value` is its text, a name that may stand there several times. Infinite times have no text, and years
 * before 1 are an error.
 * @returns undefined for a template with parts that are not read
 */
export function timeText(template: string, value: string): string | undefined {
  const parts: string[] = [];
  let codes = '';
  const end = (): void => {
    if (codes !== '') parts.push(`strftime(${value}, ${quoteLiteral(codes)})`);
    codes = '';
  };
  const texts = template.split('"');
  if (texts.length % 2 === 0 || isOfNumbers(template)) return undefined;
  for (const [i, text] of texts.entries()) {
    // Every second one stands in quotes.
    if (i % 2 === 1) {
      codes += text.replaceAll('%', '%%');
      continue;
    }
    for (const [part] of text.matchAll(PARTS)) {
      const written = partOf(part, value);
      if (written === undefined) return undefined;
      if (written.kind === 'code') codes += written.text;
      else {
        end();
        parts.push(written.text);
      }
    }
  }
  end();
  if (parts.length === 0) return undefined;
  return `CASE WHEN NOT isfinite(${value}) THEN NULL WHEN year(${value}) < 1 THEN CAST(error('to_char of a year before 1 is not served') AS VARCHAR) ELSE ${parts.join(' || ')} END`;
}

type Written = { readonly kind: 'code' | 'sql'; readonly text: string };

/** A part of a template as one of `strftime`, or as SQL. */
function partOf(part: string, value: string): Written | undefined {
  const isFilled = part.startsWith('FM') && part.length > 'FM'.length;
  const word = isFilled ? part.slice('FM'.length) : part;
  const name = foldKeyword(word);
  const [known, code] = [NAMES[name], CODES[name]];
  if (known !== undefined) return { kind: 'sql', text: nameText(`strftime(${value}, '${known}')`, { word, isFilled }) };
  if (word === 'am' || word === 'pm') return { kind: 'sql', text: `lower(strftime(${value}, '%p'))` };
  if (code !== undefined) {
    const text = code[isFilled ? 1 : 0];
    return text === '' ? undefined : { kind: 'code', text };
  }
  if (name === 'Q') return { kind: 'sql', text: `CAST(quarter(${value}) AS VARCHAR)` };
  if (name === 'D') return { kind: 'sql', text: `CAST(dayofweek(${value}) + 1 AS VARCHAR)` };
  if (part.length > 1 || BEGINS_WORD.test(part)) return undefined;
  return { kind: 'code', text: part === '%' ? '%%' : part };
}

function nameText(name: string, { word, isFilled }: { readonly word: string; readonly isFilled: boolean }): string {
  const isUpper = word === foldKeyword(word);
  const written = isUpper ? `upper(${name})` : word === foldIdentifier(word) ? `lower(${name})` : name;
  const isLong = word.length > 'Mon'.length || foldKeyword(word) === 'DAY';
  return isLong && !isFilled ? `rpad(${written}, ${NAME_LENGTH}, ' ')` : written;
}

/** Parts of templates by which texts are read: numbers of as many digits. Other parts are read by Postgres in more ways than one. */
const READ: Readonly<Record<string, string>> = {
  YYYY: '%Y',
  MM: '%m',
  DD: '%d',
  HH24: '%H',
  MI: '%M',
  SS: '%S',
};
const READ_PARTS = /YYYY|MM|DD|HH24|MI|SS|[^]/gi;

/**
 * The template of `strptime` for one of `to_date` and `to_timestamp`. A text that is written otherwise, which Postgres may still read, is an error there.
 * @returns undefined for a template with other parts, or with one twice
 */
export function readTemplate(template: string): string | undefined {
  let written = '';
  const seen = new Set<string>();
  for (const [part] of template.matchAll(READ_PARTS)) {
    const code = READ[foldKeyword(part)];
    if (code !== undefined) {
      if (seen.has(code)) return undefined;
      seen.add(code);
      written += code;
    } else if (/[-/.:, ]/.test(part)) written += part;
    else return undefined;
  }
  return seen.has('%Y') && seen.has('%m') && seen.has('%d') ? written : undefined;
}
