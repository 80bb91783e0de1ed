import { expect, test } from 'vitest';
import { adlsPlace } from './adls-place.ts';

const ROOT = 'abfss://c@account.dfs.core.windows.net';

test.each(['t', 't/a b/%2f/é', '.hidden/x', ''])('%j is a place', (key) => {
  expect(adlsPlace(`${ROOT}/${key}`)).toMatchObject({ container: 'c', account: 'account', key });
});

test.each(['t//x', '/t', 't/x//', 't./x', 't/x.', 't\\x', 't/../x'])(
  '%j is none: Azure may take it for another',
  (key) => {
    expect(() => adlsPlace(`${ROOT}/${key}`)).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
  },
);
