import { namesIn, nodeOf, objectIn, textIn, type Node } from './tree.ts';

/** The text of a constant, or of one that is cast to a text. */
export function constantText(node: Node): string | undefined {
  if (node.kind === 'TypeCast') {
    const type = namesIn(objectIn(node.of, 'typeName')?.['names']).at(-1) ?? '';
    return TEXTS.has(type) ? constantText(nodeOf(node.of['arg'])) : undefined;
  }
  const value = node.kind === 'A_Const' ? objectIn(node.of, 'sval') : undefined;
  return value === undefined ? undefined : textIn(value, 'sval');
}

/** Types of Postgres whose values are texts. */
export const TEXTS: ReadonlySet<string> = new Set(['text', 'name', 'varchar', 'bpchar', 'unknown', 'cstring']);
