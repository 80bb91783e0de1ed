import { expect, test } from 'vitest';
import { deletedKeys } from './deleted-keys.ts';

const body = (keys: string): string => `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${keys}</Delete>`;
const one = (key: string): string => body(`<Object><Key>${key}</Key></Object>`);

test.each([
  [one('a/b'), ['a/b']],
  [`<?xml version="1.0" encoding="UTF-8"?>\n${one('a/b')}`, ['a/b']],
  [body('\n<Quiet>true</Quiet>\n<Object><Key>a</Key></Object> <Object>\n<Key>b</Key></Object>'), ['a', 'b']],
  [one('a&amp;b&lt;&gt;&quot;&apos;'), [`a&b<>"'`]],
  [one('a&#47;b&#x2F;c&#x1F600;'), ['a/b/c\u{1F600}']],
  [one('a<![CDATA[/b]]>c'), ['a/bc']],
  [one('<![CDATA[a&#47;b]]>'), ['a&#47;b']],
  [one('a<!-- <Key>x</Key> -->b'), ['ab']],
  [one(' a '), [' a ']],
])('%s', (text, keys) => {
  expect(deletedKeys(text)).toEqual(keys);
});

test.each([
  '',
  'no xml',
  '<Delete>',
  '<Other><Object><Key>a</Key></Object></Other>',
  '<!DOCTYPE Delete [<!ENTITY x "a">]><Delete><Object><Key>&x;</Key></Object></Delete>',
  one('&x;'),
  one('&amp'),
  one('a&#0;'),
  one('a&#xD800;'),
  one('<b>a</b>'),
  body(''),
  body('<Object><Key>a</Key><VersionId>1</VersionId></Object>'),
  body('<Object><Key>a</Key><Key>b</Key></Object>'),
  body('<Object><key>a</key></Object>'),
  body('<x:Object><Key>a</Key></x:Object>'),
  body('<Object>a</Object>'),
  body('<Quiet><Object><Key>other</Key></Object></Quiet><Object><Key>a</Key></Object>'),
  body('<Quiet><![CDATA[<Object>]]></Quiet><Object><Key>a</Key></Object>'),
  body('<Quiet>yes</Quiet><Object><Key>a</Key></Object>'),
  body('<?php x?><Object><Key>a</Key></Object>'),
  `${one('a')}${one('b')}`,
  body('<Object><Key>a</Key></Object>'.repeat(1_001)),
])('%j is refused', (text) => {
  expect(() => deletedKeys(text)).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
});
