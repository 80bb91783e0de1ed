import { namesIn, nodeOf, nodesOf, textIn, type Node } from './tree.ts';

/** The name that Postgres gives a column of a result which has no alias (`FigureColname`), and how sure it is of it. */
export function figureName(node: Node): string {
  return named(node)?.name ?? '?column?';
}

type Named = { readonly name: string; readonly isStrong: boolean };

const strong = (name: string): Named => ({ name, isStrong: true });

function named({ kind, of }: Node): Named | undefined {
  switch (kind) {
    case 'ColumnRef': {
      const name = namesIn(of['fields']).findLast((one) => one !== '*');
      return name === undefined ? undefined : strong(name);
    }
    case 'A_Indirection': {
      const name = namesIn(
        nodesOf(of['indirection'])
          .filter((one) => one.kind === 'String')
          .map((one) => ({ String: one.of })),
      ).at(-1);
      return name === undefined ? named(nodeOf(of['arg'])) : strong(name);
    }
    case 'FuncCall':
      return strong(namesIn(of['funcname']).at(-1) ?? '');
    case 'TypeCast': {
      const inner = named(nodeOf(of['arg']));
      if (inner?.isStrong === true) return inner;
      const type = of['typeName'] as { readonly names?: never } | undefined;
      const name = namesIn(type?.names).at(-1);
      return name === undefined ? inner : { name, isStrong: false };
    }
    case 'CollateClause':
      return named(nodeOf(of['arg']));
    case 'CaseExpr': {
      const inner = of['defresult'] === undefined ? undefined : named(nodeOf(of['defresult']));
      return inner?.isStrong === true ? inner : { name: 'case', isStrong: false };
    }
    case 'SubLink':
      return ofSubLink(textIn(of, 'subLinkType'), nodeOf(of['subselect']));
    case 'SQLValueFunction':
      return strong(
        textIn(of, 'op')
          .replace(/^SVFOP_|_N$/g, '')
          .toLowerCase(),
      );
    default:
      return FIXED[kind] === undefined ? undefined : strong(FIXED[kind]);
  }
}

const FIXED: Readonly<Record<string, string>> = {
  CoalesceExpr: 'coalesce',
  A_ArrayExpr: 'array',
  RowExpr: 'row',
};

function ofSubLink(type: string, { of }: Node): Named | undefined {
  if (type === 'EXISTS_SUBLINK') return strong('exists');
  if (type === 'ARRAY_SUBLINK') return strong('array');
  if (type !== 'EXPR_SUBLINK') return undefined;
  const [first] = nodesOf(of['targetList']);
  if (first === undefined) return undefined;
  const name = textIn(first.of, 'name');
  return name === '' ? named(nodeOf(first.of['val'])) : strong(name);
}
