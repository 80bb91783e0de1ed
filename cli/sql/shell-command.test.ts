import { expect, test } from 'vitest';
import { shellCommand } from './shell-command.ts';

test.each([
  ['exit', { kind: 'quit' }],
  [' QUIT; ', { kind: 'quit' }],
  ['\\q', { kind: 'quit' }],
  ['.exit', { kind: 'quit' }],
  ['\\format csv', { kind: 'format', format: 'csv' }],
  ['.mode jsonlines', { kind: 'format', format: 'ndjson' }],
  ['\\d', { kind: 'run', sql: 'SHOW TABLES' }],
  ['.tables', { kind: 'run', sql: 'SHOW TABLES' }],
  ['\\d lake.tpch."orders"', { kind: 'run', sql: 'DESCRIBE lake.tpch."orders"' }],
  ['.databases', { kind: 'run', sql: 'SHOW CATALOGS' }],
  ['SELECT 1', undefined],
  ['quit smoking', undefined],
  ['.5', undefined],
  ['', undefined],
])('%j', (line, command) => {
  expect(shellCommand(line)).toEqual(command);
});

test.each([
  ['help', 'Statements end with a semicolon'],
  ['\\?', 'Statements end with a semicolon'],
  ['.mode latex', 'expected one of: table, csv, json, ndjson'],
  ['.mode constructor', 'expected one of'],
  ['\\nothing', 'unknown command \\nothing'],
])('%s says something', (line, text) => {
  expect(shellCommand(line)).toMatchObject({ kind: 'say', text: expect.stringContaining(text) as string });
});
