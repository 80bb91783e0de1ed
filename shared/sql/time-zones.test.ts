import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { timeZoneOf } from './time-zones.ts';

test('every name of a time zone that DuckDB lists is one, in any case, and DuckDB takes what comes of it', async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const rows = await connection.runAndReadAll('SELECT DISTINCT name FROM pg_timezone_names()');
  const names = rows.getRows().map(([name]) => String(name));
  expect(names.length).toBeGreaterThan(500);
  expect(names.filter((name) => timeZoneOf(name.toUpperCase()) !== name)).toEqual([]);
  for (const text of [...Intl.supportedValuesOf('timeZone'), 'UTC+3', 'UTC-0', 'UTC+14', 'UTC-12', 'UTC-03:00']) {
    const zone = timeZoneOf(text);
    await connection.run(`SET TimeZone = '${text}'`);
    const [[own] = []] = (await connection.runAndReadAll("SELECT current_setting('TimeZone')")).getRows();
    expect(zone, text).toBe(own);
  }
});

test.each(['Asia/Kolkata', 'Europe/Kyiv', 'America/Argentina/Buenos_Aires', 'EST5EDT', 'Etc/GMT-14', 'Zulu'])(
  '%s is a time zone',
  (name) => {
    expect(timeZoneOf(` ${name.toLowerCase()} `)).toBe(name);
  },
);

// DuckDB takes UTC+3:30 for UTC+3.
test.each(['', 'Mars/Olympus', 'UTC+15', 'UTC-13', 'UTC+', 'UTC+3:30', '+03:00', "UTC'; DROP", 'constructor'])(
  '%j is none',
  (text) => {
    expect(timeZoneOf(text)).toBeUndefined();
  },
);
