import { foldKeyword } from '#shared/sql/fold-identifier.ts';

/** Parts of a template of `to_char`, by their names in capitals, as DuckDB's `strftime` has them. */
const CODES: Readonly<Record<string, string>> = {
  YYYY: '%Y',
  YY: '%y',
  MM: '%m',
  DD: '%d',
  DDD: '%j',
  HH24: '%H',
  HH12: '%I',
  HH: '%I',
  MI: '%M',
  SS: '%S',
  MS: '%g',
  US: '%f',
  TZ: '%Z',
  OF: '%z',
};

/** Names of months and days are written as the template writes them. */
const NAMES: Readonly<Record<string, string>> = {
  Mon: '%b',
  Dy: '%a',
  AM: '%p',
  PM: '%p',
  FMMonth: '%B',
  FMDay: '%A',
};

/** Other words of Postgres' templates come first where they begin as one of these; `IW` and `FM` are not read. */
const PARTS =
  /"[^"]*"|FMMonth|FMDay|SSSSS|SSSS|TZH|TZM|HH24|HH12|YYYY|Y,YYY|YYY|DDD|MONTH|DAY|MON|DY|YY|MM|DD|HH|MI|SS|MS|US|FF\d|TZ|OF|AM|PM|A\.M\.|P\.M\.|IYYY|IYY|IY|ID|IW|WW|CC|RM|FM|FX|TM|SP|TH|BC|AD|B\.C\.|A\.D\.|[^]/gi;

/** A template of Postgres' `to_char` for times as one of `strftime`; undefined for one with parts that it has not. */
export function timeTemplate(template: string): string | undefined {
  let written = '';
  for (const [part] of template.matchAll(PARTS)) {
    const code = NAMES[part] ?? CODES[foldKeyword(part)];
    if (code !== undefined) written += code;
    else if (part.startsWith('"') && part.length > 1) written += part.slice(1, -1).replaceAll('%', '%%');
    else if (part.length > 1 || /[yidwjq]/i.test(part)) return undefined;
    else written += part === '%' ? '%%' : part;
  }
  return written;
}
