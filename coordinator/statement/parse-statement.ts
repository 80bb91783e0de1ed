import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { checkShape } from './check-shape.ts';
import { StatementReader } from './statement-reader.ts';
import type { Statement, StatementLimits } from './statement.ts';

/**
 * The gate: decides what a text is. A query is only recognised by its first word here; DuckDB's parser, which accepts SELECT alone,
 * decides whether it is one.
 * @throws SYNTAX_ERROR with a position, NOT_SUPPORTED for SQL that is not served, PAYLOAD_TOO_LARGE, STATEMENT_TOO_COMPLEX.
 */
export function parseStatement(text: string, limits: StatementLimits): Statement {
  const reader = new StatementReader(checkShape(text, limits));
  const first = reader.peekWord();
  const rule = RULES[first];
  if (rule === undefined && !reader.peekSymbol('(')) return reader.refuse(first);
  return rule === undefined || rule === query ? query(reader) : rule(reader);
}

type Rule = (reader: StatementReader) => Statement;

const query: Rule = (reader) => ({ kind: 'query', query: reader.rest() });

const QUERY_WORDS = ['SELECT', 'WITH', 'FROM', 'VALUES', 'TABLE', 'PIVOT', 'UNPIVOT'] as const;

const RULES: Readonly<Record<string, Rule | undefined>> = {
  ...Object.fromEntries(QUERY_WORDS.map((word) => [word, query])),
  SET: (reader) => parseSet(reader),
  RESET: (reader) => parseReset(reader),
  USE: (reader) => parseUse(reader),
  SHOW: (reader) => parseShow(reader),
  DESCRIBE: (reader) => parseDescribe(reader),
  DESC: (reader) => parseDescribe(reader),
  EXPLAIN: (reader) => parseExplain(reader),
  BEGIN: (reader) => transaction(reader, 'begin'),
  START: (reader) => transaction(reader, 'begin'),
  COMMIT: (reader) => transaction(reader, 'commit'),
  END: (reader) => transaction(reader, 'commit'),
  ROLLBACK: (reader) => transaction(reader, 'rollback'),
  ABORT: (reader) => transaction(reader, 'rollback'),
};

function parseSet(reader: StatementReader): Statement {
  reader.word();
  if (reader.takeWords('TIME', 'ZONE')) return endSet(reader, 'timezone');
  const scope = reader.takeWord('LOCAL') || reader.takeWord('SESSION') || reader.takeWord('GLOBAL');
  if (scope && reader.takeWords('TIME', 'ZONE')) return endSet(reader, 'timezone');
  for (const word of ['VARIABLE', 'ROLE', 'AUTHORIZATION', 'TRANSACTION', 'CHARACTERISTICS', 'CONSTRAINTS']) {
    if (reader.peekWord() === word && !reader.peekSymbol('=', 1) && reader.peekWord(1) !== 'TO') {
      throw reader.error('NOT_SUPPORTED', `SET ${word} is not served`);
    }
  }
  const name = settingName(reader);
  if (!reader.takeSymbol('=') && !reader.takeWord('TO')) throw reader.expected("'=' or TO");
  return endSet(reader, name);
}

function endSet(reader: StatementReader, name: string): Statement {
  const value = settingValue(reader);
  reader.end();
  return { kind: 'set', name, value };
}

/** A string, a number (signed), or a bare word, as text; null for DEFAULT and, of a time zone, LOCAL. */
function settingValue(reader: StatementReader): string | null {
  const string = reader.takeString();
  if (string !== null) return string;
  if (reader.takeWord('DEFAULT') || reader.takeWord('LOCAL')) return null;
  const sign = reader.takeSymbol('-') ? '-' : reader.takeSymbol('+') ? '' : null;
  const number = reader.takeNumber();
  if (number !== null) return `${sign ?? ''}${number}`;
  if (sign !== null) throw reader.expected('a number');
  const word = reader.takeName();
  if (word === null) throw reader.expected('a value');
  return word;
}

/** Settings are named without case; a dotted name is one name. */
function settingName(reader: StatementReader): string {
  return foldIdentifier(reader.name('a setting', 8).parts.join('.'));
}

function parseReset(reader: StatementReader): Statement {
  reader.word();
  if (reader.takeWord('ALL')) {
    reader.end();
    return { kind: 'resetAll' };
  }
  const name = reader.takeWords('TIME', 'ZONE') ? 'timezone' : settingName(reader);
  reader.end();
  return { kind: 'reset', name };
}

function parseUse(reader: StatementReader): Statement {
  reader.word();
  if (reader.peekWord() === 'CATALOG' && !reader.atEnd(1) && !reader.peekSymbol('.', 1)) {
    reader.word();
    const catalog = reader.takeName();
    if (catalog === null) throw reader.expected('a catalog');
    reader.end();
    return { kind: 'useCatalog', catalog };
  }
  if (reader.peekWord() === 'SCHEMA' && !reader.atEnd(1) && !reader.peekSymbol('.', 1)) reader.word();
  const name = reader.name('a catalog or schema', 2);
  reader.end();
  return { kind: 'use', name };
}

function parseShow(reader: StatementReader): Statement {
  reader.word();
  const what = reader.peekWord();
  const rule = SHOW_RULES[what];
  if (rule !== undefined) {
    reader.word();
    return rule(reader);
  }
  if (SHOW_LATER.has(what) && !reader.peekSymbol('.', 1))
    throw reader.error('NOT_SUPPORTED', `SHOW ${what} is not served`);
  const name = reader.takeWords('TIME', 'ZONE') ? 'timezone' : settingName(reader);
  reader.end();
  return { kind: 'showSetting', name };
}

const SHOW_LATER = new Set([
  'QUERY',
  'RESOURCE',
  'CREATE',
  'ROW',
  'MASKING',
  'USERS',
  'SERVICE',
  'PERSONAL',
  'WEBHOOKS',
  'GRANTS',
  'ROLES',
  'VIEWS',
  'FUNCTIONS',
  'STATS',
  'PARTITIONS',
]);

const SHOW_RULES: Readonly<Record<string, Rule | undefined>> = {
  CATALOGS: (reader) => showCatalogs(reader),
  DATABASES: (reader) => showCatalogs(reader),
  SCHEMAS: (reader) => showSchemas(reader),
  NAMESPACES: (reader) => showSchemas(reader),
  TABLES: (reader) => {
    const schema = reader.takeWord('FROM') || reader.takeWord('IN') ? reader.name('a schema', 2) : null;
    const like = takeLike(reader);
    reader.end();
    return { kind: 'showTables', schema, like };
  },
  COLUMNS: (reader) => {
    if (!reader.takeWord('FROM') && !reader.takeWord('IN')) throw reader.expected('FROM or IN');
    const name = reader.name('a table', 3);
    reader.end();
    return { kind: 'describeTable', name };
  },
  ALL: (reader) => {
    reader.end();
    return { kind: 'showAll' };
  },
};

function showCatalogs(reader: StatementReader): Statement {
  const like = takeLike(reader);
  reader.end();
  return { kind: 'showCatalogs', like };
}

function showSchemas(reader: StatementReader): Statement {
  let catalog: string | null = null;
  if (reader.takeWord('FROM') || reader.takeWord('IN')) {
    catalog = reader.takeName();
    if (catalog === null) throw reader.expected('a catalog');
  }
  const like = takeLike(reader);
  reader.end();
  return { kind: 'showSchemas', catalog, like };
}

/** Longest text after LIKE: a name is compared with it in time that is their product. */
const PATTERN_LENGTH_MAX = 4_096;

function takeLike(reader: StatementReader): string | null {
  if (!reader.takeWord('LIKE')) return null;
  const { length } = reader.rest().text;
  if (length > PATTERN_LENGTH_MAX) {
    throw reader.error('INVALID_REQUEST', `a pattern after LIKE has at most ${PATTERN_LENGTH_MAX} characters`);
  }
  const pattern = reader.takeString();
  if (pattern === null) throw reader.expected('a pattern in quotes');
  return pattern;
}

function parseDescribe(reader: StatementReader): Statement {
  reader.word();
  if (startsQuery(reader)) return { kind: 'describeQuery', query: reader.rest() };
  const second = reader.peekWord();
  if ((second === 'USER' || second === 'VIEW') && !reader.atEnd(1) && !reader.peekSymbol('.', 1)) {
    throw reader.error('NOT_SUPPORTED', `DESCRIBE ${second} is not served`);
  }
  reader.takeWord('TABLE');
  const name = reader.name('a table', 3);
  reader.end();
  return { kind: 'describeTable', name };
}

/** `TABLE t` reads as a query after EXPLAIN and as the table's description after DESCRIBE. */
const startsQuery = (reader: StatementReader): boolean =>
  reader.peekSymbol('(') || QUERY_WORDS.some((word) => word !== 'TABLE' && reader.peekWord() === word);

function parseExplain(reader: StatementReader): Statement {
  reader.word();
  let analyze = reader.takeWord('ANALYZE');
  let format: 'text' | 'json' = 'text';
  let type: 'logical' | 'distributed' = 'logical';
  if (reader.peekSymbol('(') && EXPLAIN_OPTIONS.has(reader.peekWord(1))) {
    reader.takeSymbol('(');
    do {
      const option = reader.word();
      if (option === 'ANALYZE') analyze = true;
      else if (option === 'FORMAT') format = explainFormat(reader);
      else if (option === 'TYPE') type = explainType(reader);
      else throw reader.error('SYNTAX_ERROR', `EXPLAIN has no option ${option}`);
    } while (reader.takeSymbol(','));
    if (!reader.takeSymbol(')')) throw reader.expected("')'");
  }
  if (!startsQuery(reader) && reader.peekWord() !== 'TABLE') return reader.refuse(reader.peekWord());
  return { kind: 'explain', analyze, type, format, query: reader.rest() };
}

const EXPLAIN_OPTIONS = new Set(['ANALYZE', 'FORMAT', 'TYPE']);

function explainFormat(reader: StatementReader): 'text' | 'json' {
  const format = foldIdentifier(reader.takeName() ?? '');
  if (format === 'text' || format === 'json') return format;
  throw reader.error('NOT_SUPPORTED', 'EXPLAIN serves FORMAT TEXT and JSON');
}

function explainType(reader: StatementReader): 'logical' | 'distributed' {
  const type = foldIdentifier(reader.takeName() ?? '');
  if (type === 'logical' || type === 'distributed') return type;
  throw reader.error('NOT_SUPPORTED', 'EXPLAIN serves TYPE LOGICAL and DISTRIBUTED');
}

function transaction(reader: StatementReader, kind: 'begin' | 'commit' | 'rollback'): Statement {
  const start = reader.word() === 'START';
  if (!reader.takeWord('TRANSACTION')) {
    if (start) throw reader.expected('TRANSACTION');
    reader.takeWord('WORK');
  }
  reader.end();
  return { kind };
}
