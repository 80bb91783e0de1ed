import { posix } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isWithin, localPath, normalizeLocation } from './location.ts';

/** Parts of a path, those above all that a canonical one has not. */
const segment = fc.constantFrom('', '.', '..', '...', 'a', 'b.c', '.d', 'e.', 'ü f', '%2e%2e', 'file:', '\u0001');
const path = fc.array(segment, { maxLength: 6 }).map((segments) => `/${segments.join('/')}`);
const spelling = fc.constantFrom('', 'file:', 'file://', 'FILE://', 'file://localhost');

test('every spelling of a local path has one canonical form, which has no part that leads elsewhere', () => {
  fc.assert(
    fc.property(path, spelling, (at, prefix) => {
      // `file:` before two slashes has a host.
      fc.pre(prefix !== 'file:' || !at.startsWith('//'));
      const clean = posix.normalize(at).replace(/(?<=.)\/$/, '');
      expect(normalizeLocation(`${prefix}${at}`)).toBe(`file://${clean}`);
      expect(normalizeLocation(`file://${clean}`)).toBe(`file://${clean}`);
      expect(localPath(`${prefix}${at}`)).toBe(posix.resolve(at));
    }),
    { numRuns: 2_000 },
  );
});

test('what is below a root is so for whoever opens it', () => {
  fc.assert(
    fc.property(path, path, (at, root) => {
      const relative = posix.relative(posix.resolve(root), posix.resolve(at));
      expect(isWithin(at, `file://${root}`)).toBe(relative !== '..' && !relative.startsWith('../'));
    }),
    { numRuns: 2_000 },
  );
});

test.each(['relative/a', '', 'file:a', 'file://host/a', '/a\0b', 'file:///a/\0'])('%j is no location', (text) => {
  expect(() => normalizeLocation(text)).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
});

test('the path of an object is clean, and its bucket is kept', () => {
  expect(normalizeLocation('S3://bucket//a/./b/../c/')).toBe('s3://bucket/a/c');
  expect(normalizeLocation('s3://bucket')).toBe('s3://bucket');
});
