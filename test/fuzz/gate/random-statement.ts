import fc, { type Arbitrary } from 'fast-check';
import { must, unreachable } from '#shared/must.ts';
import { CATALOGS, NAMES, SCHEMAS, spell, STYLES, type Spelling } from './names.ts';

/**
 * Random queries as data, so that fast-check can shrink them. They test name resolution: every table and every query has one column `a`, so
 * that most queries bind.
 */
type Name = { readonly name: string; readonly spelling: Spelling };
type TableName = { readonly parts: readonly Name[] };

type Query =
  | { readonly kind: 'select'; readonly value: Value; readonly from: readonly Source[]; readonly where: Value | null }
  | { readonly kind: 'from'; readonly source: Source }
  | { readonly kind: 'table'; readonly table: TableName }
  | { readonly kind: 'values' }
  | { readonly kind: 'set'; readonly operator: string; readonly left: Query; readonly right: Query }
  | {
      readonly kind: 'with';
      readonly recursive: boolean;
      readonly tables: readonly CommonTable[];
      readonly body: Query;
    };

type CommonTable = { readonly name: Name; readonly how: string; readonly query: Query };

type Source =
  | {
      readonly kind: 'table';
      readonly table: TableName;
      readonly alias: Alias | null;
      readonly suffix: readonly string[];
    }
  | { readonly kind: 'query'; readonly query: Query; readonly lateral: boolean; readonly alias: Alias }
  | { readonly kind: 'rows'; readonly alias: Alias }
  | { readonly kind: 'join'; readonly words: readonly string[]; readonly left: Source; readonly right: Source };

type Alias = { readonly name: Name; readonly as: boolean; readonly columns: boolean };

type Value =
  | { readonly kind: 'one' }
  | { readonly kind: 'text'; readonly text: string }
  /** A column in scope: its number, and how many parts of its name are written. */
  | { readonly kind: 'column'; readonly pick: number; readonly parts: number; readonly spelling: Spelling }
  | { readonly kind: 'query'; readonly words: readonly string[]; readonly query: Query };

/** A statement, the texts between its words, and texts inserted at some places. */
export type RandomStatement = {
  readonly query: Query;
  readonly gaps: readonly string[];
  readonly changes: readonly { readonly at: number; readonly text: string }[];
};

/** The names by which columns can be qualified, one list per FROM, the nearest first. */
type Sight = readonly (readonly (readonly string[])[])[];

const TEXTS = [
  "'it''s'",
  "E'\\'--'",
  "E'\\\\'",
  '$$ /* $$',
  "$a$ ' $a$",
  "'\u00a0'",
  "E'\\'\u00a0'",
  "'a'\n'b'",
  "'--'",
  "x'1f'",
];
const OPERATORS = ['UNION ALL', 'UNION', 'EXCEPT', 'INTERSECT ALL'];
const SUFFIXES = [
  [],
  [],
  [],
  ['TABLESAMPLE', '10', '%'],
  ['PIVOT', '(', 'count(*)', 'FOR', 'a', 'IN', '(', '1', 'AS', 'a', ')', ')'],
];
const JOINS = [['CROSS', 'JOIN'], ['POSITIONAL', 'JOIN'], ['JOIN'], ['LEFT', 'JOIN']];
const SUBQUERIES = [['('], ['EXISTS', '('], ['ARRAY', '('], ['1', 'IN', '('], ['1', '=', 'ANY', '(']];
const GAPS = [
  '\n',
  '\t',
  '\r',
  '\f',
  '\u00a0',
  '\u2003',
  '\ufeff',
  '',
  '',
  '/**/',
  '--\n',
  '-- it\'s a "comment"\r',
  "/* don't -- */",
  '/* /* nested */ ; */',
  '/* " */',
  '-- $$\n',
  '/* FROM k */',
];
/** Texts that are put into a statement at some place; `|` divides them. */
const CHANGES = [
  ...`'|"|--|/*|*/|$$|$a$|E'|N'|U&'|U&"|\\|\r|\n|;|\u00a0|\u200b|\u200c|\u2028|\u212a`.split('|'),
  ...'(|)|.|..|1_|0x1|?1|$1|#1|::INT| AS "K"|, k| JOIN k | k | AT (VERSION => 1) | AS | USING (a) '.split('|'),
  ...' ON true | WHERE true | NATURAL | TABLE k | FROM k | -- '.split('|'),
];

const spelling: Arbitrary<Spelling> = fc.record({
  style: fc.constantFrom(...STYLES, 'plain' as const, 'quoted' as const),
  letters: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(65_535)),
});
const nameOf = (names: readonly string[]): Arbitrary<Name> => fc.record({ name: fc.constantFrom(...names), spelling });
/** Few names, so that they collide. */
const name = fc.oneof({ weight: 3, arbitrary: nameOf(NAMES.slice(0, 6)) }, nameOf(NAMES));
const alias: Arbitrary<Alias> = fc.record({ name, as: fc.boolean(), columns: fc.boolean() });

const tableName: Arbitrary<TableName> = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(name).map((parts) => ({ parts })) },
  { weight: 2, arbitrary: fc.tuple(nameOf(SCHEMAS), name).map((parts) => ({ parts })) },
  { weight: 1, arbitrary: fc.tuple(nameOf(CATALOGS), nameOf(SCHEMAS), name).map((parts) => ({ parts })) },
);

const { query } = fc.letrec<{ query: Query; source: Source; value: Value }>((tie) => {
  const depth = { depthSize: 'small' } as const;
  return {
    query: fc.oneof(
      depth,
      fc.record({ kind: fc.constant('table' as const), table: tableName }),
      fc.constant({ kind: 'values' as const }),
      fc.record({ kind: fc.constant('from' as const), source: tie('source') }),
      fc.record({
        kind: fc.constant('select' as const),
        value: tie('value'),
        from: fc.array(tie('source'), { maxLength: 3 }),
        where: fc.option(tie('value'), { freq: 2 }),
      }),
      fc.record({
        kind: fc.constant('set' as const),
        operator: fc.constantFrom(...OPERATORS),
        left: tie('query'),
        right: tie('query'),
      }),
      fc.record({
        kind: fc.constant('with' as const),
        recursive: fc.boolean(),
        tables: fc.array(
          fc.record({ name, how: fc.constantFrom('', '', 'MATERIALIZED', 'NOT MATERIALIZED'), query: tie('query') }),
          { minLength: 1, maxLength: 3 },
        ),
        body: tie('query'),
      }),
    ),
    source: fc.oneof(
      depth,
      {
        weight: 4,
        arbitrary: fc.record({
          kind: fc.constant('table' as const),
          table: tableName,
          alias: fc.option(alias, { freq: 1 }),
          suffix: fc.constantFrom(...SUFFIXES),
        }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('rows' as const), alias }) },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant('query' as const),
          query: tie('query'),
          lateral: fc.boolean(),
          alias,
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constant('join' as const),
          words: fc.constantFrom(...JOINS),
          left: tie('source'),
          right: tie('source'),
        }),
      },
    ),
    value: fc.oneof(
      depth,
      fc.constant({ kind: 'one' as const }),
      fc.record({ kind: fc.constant('text' as const), text: fc.constantFrom(...TEXTS) }),
      {
        weight: 3,
        arbitrary: fc.record({ kind: fc.constant('column' as const), pick: fc.nat(7), parts: fc.nat(3), spelling }),
      },
      fc.record({ kind: fc.constant('query' as const), words: fc.constantFrom(...SUBQUERIES), query: tie('query') }),
    ),
  };
});

export const randomStatement: Arbitrary<RandomStatement> = fc.record({
  query,
  gaps: fc.array(fc.oneof({ weight: 3, arbitrary: fc.constant(' ') }, fc.constantFrom(...GAPS)), { maxLength: 12 }),
  changes: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    fc.array(fc.record({ at: fc.nat(), text: fc.constantFrom(...CHANGES) }), { minLength: 1, maxLength: 2 }),
  ),
});

export function printStatement({ query: tree, gaps, changes }: RandomStatement): string {
  const words = queryWords(tree, []);
  const text = words.reduce((head, word, i) => {
    const gap = gaps[i % Math.max(1, gaps.length)] ?? ' ';
    return `${head}${gap === '' && needsGap(head, word) ? ' ' : gap}${word}`;
  });
  return changes.reduce((whole, { at, text: change }) => {
    const place = at % (whole.length + 1);
    // Not between the halves of one character.
    const start = /[\udc00-\udfff]/.test(whole.charAt(place)) ? place - 1 : place;
    return whole.slice(0, start) + change + whole.slice(start);
  }, text);
}

/** Whether two words without a space between them would be another word. */
const needsGap = (before: string, after: string): boolean =>
  /[\w$\u0080-\uffff]$/.test(before) ? !/^[("),.;]/.test(after) : /['"]$/.test(before) && /^['"]/.test(after);

function queryWords(node: Query, sight: Sight): string[] {
  switch (node.kind) {
    case 'select': {
      const inside = [node.from.flatMap(namesOf), ...sight];
      const from = node.from.flatMap((source, i) => [i === 0 ? 'FROM' : ',', ...sourceWords(source, inside)]);
      const where = node.where === null ? [] : ['WHERE', ...valueWords(node.where, inside), 'IS', 'NOT', 'NULL'];
      return ['SELECT', ...valueWords(node.value, inside), 'AS', 'a', ...from, ...where];
    }
    case 'from':
      return ['FROM', ...sourceWords(node.source, [namesOf(node.source), ...sight])];
    case 'table':
      return ['TABLE', ...tableWords(node.table)];
    case 'values':
      return ['VALUES', '(', '1', ')'];
    case 'set':
      return ['(', ...queryWords(node.left, sight), ')', node.operator, '(', ...queryWords(node.right, sight), ')'];
    case 'with': {
      const tables = node.tables.flatMap((one, i) => [
        ...(i === 0 ? [] : [',']),
        spell(one.name.name, one.name.spelling, false),
        '(',
        'a',
        ')',
        'AS',
        ...(one.how === '' ? [] : [one.how]),
        '(',
        ...queryWords(one.query, sight),
        ')',
      ]);
      return ['WITH', ...(node.recursive ? ['RECURSIVE'] : []), ...tables, ...queryWords(node.body, sight)];
    }
    default:
      return unreachable(node);
  }
}

function sourceWords(source: Source, sight: Sight): string[] {
  switch (source.kind) {
    case 'table':
      return [
        ...tableWords(source.table),
        ...source.suffix,
        ...(source.alias === null ? [] : aliasWords(source.alias)),
      ];
    case 'query': {
      const query = ['(', ...queryWords(source.query, source.lateral ? sight : sight.slice(1)), ')'];
      return [...(source.lateral ? ['LATERAL'] : []), ...query, ...aliasWords(source.alias)];
    }
    case 'rows':
      return ['range', '(', '3', ')', ...aliasWords({ ...source.alias, columns: true })];
    case 'join': {
      const condition = source.words.length === 1 || source.words[0] === 'LEFT';
      const sides = [...sourceWords(source.left, sight), ...source.words, ...sourceWords(source.right, sight)];
      return ['(', ...sides, ...(condition ? ['ON', 'true'] : []), ')'];
    }
    default:
      return unreachable(source);
  }
}

const tableWords = ({ parts }: TableName): string[] =>
  parts.flatMap(({ name: part, spelling: how }, i) => [
    ...(i === 0 ? [] : ['.']),
    spell(part, how, parts.length === 1),
  ]);

const aliasWords = ({ name: { name: text, spelling: how }, as, columns }: Alias): string[] => [
  ...(as ? ['AS'] : []),
  spell(text, how, as),
  ...(columns ? ['(', 'a', ')'] : []),
];

function valueWords(value: Value, sight: Sight): string[] {
  switch (value.kind) {
    case 'one':
      return ['1'];
    case 'text':
      return ['length', '(', value.text, ')'];
    case 'column': {
      const names = sight.flat();
      if (names.length === 0) return ['1'];
      const parts = must(names[value.pick % names.length], 'a name in sight');
      const used = parts.slice(-1 - (value.parts % parts.length));
      return [...used.flatMap((part) => [spell(part, value.spelling, false), '.']), 'a'];
    }
    case 'query':
      return [...value.words, ...queryWords(value.query, sight), ')'];
    default:
      return unreachable(value);
  }
}

/** Names that qualify a source's columns: its alias, or catalog, schema and table. */
function namesOf(source: Source): (readonly string[])[] {
  if (source.kind === 'join') return [...namesOf(source.left), ...namesOf(source.right)];
  if (source.kind !== 'table' || source.alias !== null) return [[must(source.alias, 'an alias').name.name]];
  const parts = source.table.parts.map((part) => part.name);
  return [[CATALOGS[0], SCHEMAS[0], ''].map((part, i) => parts[i - 3 + parts.length] ?? part)];
}
