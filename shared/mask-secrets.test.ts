import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { printJson } from '#shared/json.ts';
import { looksSecret, maskJson, maskSecrets } from './mask-secrets.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

const BODY = 'Ab-_9'.repeat(9);
const UUID = '2b252e2a-d418-456b-ab96-11bf148945c2';
const JWT = `eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhIn0.${BODY}`;
const PEM = '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA\n-----END PRIVATE KEY-----';

test.each([
  [`DROP PERSONAL ACCESS TOKEN skein_pat_${BODY}`, 'DROP PERSONAL ACCESS TOKEN skein_pat_***'],
  [`say("SKEIN_PAT_${BODY}")`, 'say("SKEIN_PAT_***")'],
  [`a=skein_inv_${BODY}, b=skein_cs_${BODY};`, 'a=skein_inv_***, b=skein_cs_***;'],
  [`SET x = 'skein_prt_${UUID}.${BODY}'`, "SET x = 'skein_prt_***'"],
  [`(skein_rt_${UUID}.${BODY}, skein_rt_${UUID})`, '(skein_rt_***, skein_rt_***)'],
  [`xskein_pat_${BODY}`, 'xskein_pat_***'],
  [`SELECT '${JWT}'`, "SELECT '***'"],
  [JWT.toLowerCase(), '***'],
  [`{"line":"a\\n${JWT}"}`, '{"line":"a\\n***"}'],
  [`Bearer ${JWT.slice(0, 50)}`, 'Bearer ***'],
  [`'${PEM}' tail`, "'***' tail"],
  [`'${PEM.replaceAll('PRIVATE', 'RSA PRIVATE').replaceAll('\n', '\\n')}'`, "'***'"],
  [`'${PEM.slice(0, 40)}`, "'***"],
])('%j', (text, masked) => {
  expect(maskSecrets(text)).toBe(masked);
  expect(looksSecret(text)).toBe(true);
  expect(maskSecrets(masked)).toBe(masked);
});

test('each beginning of a secret that the services make is known', () => {
  const made = ['catalog', 'coordinator', 'shared', 'cli'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
      .flatMap((path) => readFileSync(join(folder, path), 'utf8').match(/(?<=PREFIX = ')skein_[a-z]+_(?=')/g) ?? []),
  );
  expect(made).toContain('skein_prt_');
  for (const prefix of made) expect(maskSecrets(`${prefix}${BODY}`)).toBe(`${prefix}***`);
});

test.each([
  'SELECT skein_pat FROM t',
  'skein_pat_',
  'skein_cs_short',
  'eyjafjallajokull.volcanoes_of_iceland.x',
  'no_eyJhbGciOiJF.eyJzdWIiOiJh',
  '-----BEGIN PUBLIC KEY-----\nMCow\n-----END PUBLIC KEY-----',
  'a PRIVATE KEY----- alone',
])('%j has none', (text) => {
  expect(maskSecrets(text)).toBe(text);
  expect(looksSecret(text)).toBe(false);
});

test.each<[string, string]>([
  [
    printJson({ name: PEM.slice(0, 40), n: 12345678901234567890n, tail: [`skein_pat_${BODY}`] }),
    printJson({ name: '***', n: 12345678901234567890n, tail: ['skein_pat_***'] }),
  ],
  [printJson([PEM, 'between', PEM.slice(-30)]), printJson(['***', 'between', PEM.slice(-30)])],
  [printJson({ inner: printJson({ key: PEM.slice(0, 40), more: 1 }) }), printJson({ inner: '{"key":"***' })],
  [printJson({ [`a ${JWT}`]: true, none: null, small: 1.5 }), printJson({ 'a ***': true, none: null, small: 1.5 })],
])('%s stays JSON', (text, hidden) => {
  expect(maskJson(text)).toBe(hidden);
});

test('a text that is no JSON is masked as any other', () => {
  expect(maskJson(`{"a": ${JWT}`)).toBe('{"a": ***');
  expect(maskJson('{"a" : 1}')).toBe('{"a" : 1}');
});

test.each(['eyJ', 'skein_pat_', '.eyJa', '-----BEGIN PRIVATE KEY-----', '-----BEGIN ', 'a_', '\\neyJaaaaaa'])(
  'the longest statement of %j is looked at in one go',
  (part) => {
    const text = `${part.repeat((16 * 2 ** 20) / part.length)}.eyJ skein_pat_ PRIVATE KEY-----`;
    const beganMs = performance.now();
    maskSecrets(text);
    // Quadratic work would take hours.
    expect(performance.now() - beganMs).toBeLessThan(5_000 * machineSlowness());
  },
);
