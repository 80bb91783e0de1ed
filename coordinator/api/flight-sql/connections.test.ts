import { expect, test } from 'vitest';
import { Connections } from './connections.ts';

test('a principal has so many connections at once, whatever others have; one that closes makes room', () => {
  const connections = new Connections(2);
  for (const peer of ['a:1', 'a:2', 'a:3']) connections.opened(peer);
  connections.use('a:1', 'ann');
  connections.use('a:1', 'ann');
  connections.use('a:2', 'ann');
  expect(() => connections.use('a:3', 'ann')).toThrow('you have 2 connections');
  connections.use('a:3', 'bob');
  connections.closed('a:1');
  connections.use('a:3', 'ann');
  expect(() => {
    connections.opened('a:4');
    connections.use('a:4', 'ann');
  }).toThrow('you have 2 connections');
});

test('a call whose connection has closed meanwhile leaves nothing behind', () => {
  const connections = new Connections(1);
  connections.opened('a:1');
  connections.closed('a:1');
  connections.use('a:1', 'ann');
  connections.opened('a:2');
  connections.use('a:2', 'ann');
  connections.closed('a:2');
  expect(connections.size).toBe(0);
});
