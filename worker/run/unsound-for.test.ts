import { expect, test } from 'vitest';
import { unsoundFor } from './unsound-for.ts';

const scans = [{ tableUuid: 'a' }, { tableUuid: 'b' }, { tableUuid: 'a' }];
const [A, B, SAME] = [{ scan: 0 }, { scan: 1 }, { scan: 2 }];

test.each([
  [
    [
      'SELECT 1 FROM ',
      A,
      ' x JOIN ',
      B,
      ' y ON x.a = y.a UNION ALL SELECT 1 FROM ',
      SAME,
      ' x JOIN ',
      B,
      ' y ON x.a = y.a',
    ],
    false,
  ],
  [['SELECT 1 FROM ', A, ', ', SAME, ' UNION ALL SELECT 1 FROM ', A, ', ', SAME], true],
  [['SELECT 1 FROM ', { input: 0 }, ', ', { input: 0 }, ', ', { input: 0 }, ', ', { input: 0 }], true],
  [['WITH c AS (SELECT 1 FROM ', A, ', ', SAME, ') SELECT 1 FROM c, c d'], true],
] as const)('common subplans are left alone where each may read a table twice: %j', (text, isOff) => {
  expect(unsoundFor(text, scans).optimizers.includes('common_subplan')).toBe(isOff);
});
