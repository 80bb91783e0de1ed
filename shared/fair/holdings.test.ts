import { describe, expect, test } from 'vitest';
import type { Asker } from './asker.ts';
import { Holdings, inTurn, oneTooMany, withLeast } from './holdings.ts';

const asker = (tenant: string, principal = 'p'): Asker => ({ tenant, principal });

describe('the part that is kept for others', () => {
  test('one alone may have seven eighths, and the rest is there for another tenant and another principal', () => {
    const holdings = new Holdings(800);
    expect(holdings.freeFor(asker('a'))).toBe(800);
    holdings.take(asker('a'), 700);
    expect(holdings.freeFor(asker('a'))).toBe(0);
    expect(holdings.freeFor(asker('b'))).toBe(100);
    holdings.take(asker('b', 'x'), 40);
    expect([holdings.freeFor(asker('b', 'x')), holdings.freeFor(asker('b', 'y'))]).toEqual([10, 60]);
  });

  test('returned units belong to nobody', () => {
    const holdings = new Holdings(8);
    holdings.take(asker('a'), 7);
    holdings.giveBack(asker('a'), 7);
    expect([holdings.held, holdings.ofTenant(asker('a')), holdings.freeFor(asker('a'))]).toEqual([0, 0, 8]);
  });

  test('an amount too small to divide is not kept', () => {
    expect(new Holdings(1).freeFor(asker('a'))).toBe(1);
  });
});

describe('the next waiter', () => {
  test('the tenant with least, in it the principal with least, of equals the first; one of each principal', () => {
    const holdings = new Holdings(100);
    holdings.take(asker('a', 'x'), 3);
    holdings.take(asker('a', 'y'), 2);
    holdings.take(asker('b', 'z'), 4);
    const waiting = [asker('a', 'x'), asker('a', 'x'), asker('a', 'y'), asker('b', 'z'), asker('c'), asker('d')];
    expect(inTurn(waiting, holdings)).toEqual([
      asker('c'),
      asker('d'),
      asker('b', 'z'),
      asker('a', 'y'),
      asker('a', 'x'),
    ]);
  });

  test('the next are the principals with least, within the tenants with least', () => {
    const holdings = new Holdings(100);
    holdings.take(asker('a', 'x'), 1);
    holdings.take(asker('b', 'y'), 1);
    holdings.take(asker('c', 'z'), 2);
    const waiting = [asker('a', 'x'), asker('a', 'w'), asker('b', 'y'), asker('c', 'v'), asker('a', 'w')];
    expect(withLeast(waiting, holdings)).toEqual([asker('a', 'w'), asker('a', 'w'), asker('b', 'y')]);
    expect(withLeast([], holdings)).toEqual([]);
  });

  test('places of one that had all of them go over to the others until all have the same', () => {
    const holdings = new Holdings(12);
    const [a, b, c] = [asker('a'), asker('b'), asker('c')];
    holdings.take(a, 12);
    for (let i = 0; i < 8; i++) {
      holdings.giveBack(a, 1);
      holdings.take(inTurn([a, b, c], holdings)[0] ?? a, 1);
    }
    expect([a, b, c].map((one) => holdings.ofTenant(one))).toEqual([4, 4, 4]);
  });
});

describe('a full queue', () => {
  const queue = (counts: Readonly<Record<string, number>>): (Asker & { readonly at: number })[] =>
    Object.entries(counts).flatMap(([name, count]) => {
      const [tenant = '', principal = ''] = name.split('/');
      return Array.from({ length: count }, (_, at) => ({ tenant, principal, at }));
    });

  test('the last one of those who are most makes room', () => {
    const waiting = queue({ 'a/x': 3, 'a/y': 5, 'b/z': 1 });
    expect(oneTooMany(waiting, asker('b', 'z'))).toEqual({ ...asker('a', 'y'), at: 4 });
    expect(oneTooMany(waiting, asker('c'))).toEqual({ ...asker('a', 'y'), at: 4 });
    expect(oneTooMany(waiting, asker('a', 'x'))).toEqual({ ...asker('a', 'y'), at: 4 });
  });

  test('the largest tenant makes no room for itself, and equal tenants make none for each other', () => {
    expect(oneTooMany(queue({ 'a/x': 5, 'b/z': 1 }), asker('a', 'x'))).toBeUndefined();
    expect(oneTooMany(queue({ 'a/x': 5, 'b/z': 4 }), asker('b', 'z'))).toBeUndefined();
  });
});
