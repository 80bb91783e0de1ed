import { XMLParser } from 'fast-xml-parser';

/** An element: its text, or its children by name, all of one name in a list. */
export type XmlNode = string | { readonly [name: string]: readonly XmlNode[] };

const parser = new XMLParser({
  ignoreAttributes: true,
  ignoreDeclaration: true,
  ignorePiTags: true,
  removeNSPrefix: true,
  parseTagValue: false,
  trimValues: false,
  alwaysCreateTextNode: false,
  isArray: () => true,
  // No document of S3 has a DTD: `textAt` knows the predefined entities, and characters by their numbers.
  processEntities: false,
});

/** Parses an answer of S3 or STS. @throws when it is no XML */
export const readXml = (body: Buffer): XmlNode => parser.parse(body.toString()) as XmlNode;

/** The elements that a path of names leads to. */
export function elements(node: XmlNode, ...names: readonly string[]): readonly XmlNode[] {
  let found: readonly XmlNode[] = [node];
  for (const name of names) found = found.flatMap((one) => (typeof one === 'string' ? [] : (one[name] ?? [])));
  return found;
}

/** The text of the first element that a path of names leads to; undefined when there is none. */
export function textAt(node: XmlNode, ...names: readonly string[]): string | undefined {
  const [first] = elements(node, ...names);
  return typeof first === 'string' ? first.replaceAll(ENTITY, (_all, name: string) => character(name)) : undefined;
}

const ENTITY = /&(#\d{1,7}|#x[0-9a-fA-F]{1,6}|lt|gt|amp|quot|apos);/g;
const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function character(name: string): string {
  if (!name.startsWith('#')) return NAMED[name] ?? '';
  const code = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code <= 0x10ffff ? String.fromCodePoint(code) : '';
}
