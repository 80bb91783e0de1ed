import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { SkeinError } from '#shared/error.ts';

/** Objects of one request, as S3 allows. */
const KEYS_MAX = 1_000;

/** Elements in their order, each with its name; texts and CDATA apart. */
type Node = Readonly<Record<string, readonly Node[] | string | undefined>>;

const CDATA = '#cdata';

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: true,
  ignoreDeclaration: true,
  parseTagValue: false,
  trimValues: false,
  // Entities are resolved below, where they stand in texts alone.
  processEntities: false,
  cdataPropName: CDATA,
});

/**
 * The keys that a `DeleteObjects` body names. Only what every store reads in the same way is taken: each key may consist of texts with
 * entities and of CDATA, comments count for nothing, and elements that are not known are refused, versions among them.
 * @throws INVALID_REQUEST
 */
export function deletedKeys(body: string): readonly string[] {
  if (/<!(?!--|\[CDATA\[)/.test(body)) throw invalid('it has a document type');
  if (/<\?(?!xml\s)/.test(body)) throw invalid('it has processing instructions');
  if (XMLValidator.validate(body) !== true) throw invalid('it is no XML');
  const [root, ...others] = elementsOf(parser.parse(body) as readonly Node[]);
  if (root === undefined || others.length > 0 || root.name !== 'Delete') throw invalid('its element is Delete');
  const keys: string[] = [];
  for (const { name, children } of elementsOf(root.children)) {
    if (name === 'Quiet') {
      // A store that looks for keys at any depth would find them here.
      if (!/^\s*(?:true|false)\s*$/.test(textOf(children))) throw invalid('Quiet is true or false');
      continue;
    }
    if (name !== 'Object') throw invalid(`it has an element ${name.slice(0, 100)}`);
    const [key, ...more] = elementsOf(children);
    if (key?.name !== 'Key' || more.length > 0) throw invalid('an Object has a Key and nothing else');
    keys.push(textOf(key.children));
  }
  if (keys.length === 0 || keys.length > KEYS_MAX) throw invalid(`it names 1 to ${KEYS_MAX} objects`);
  return keys;
}

type Element = { readonly name: string; readonly children: readonly Node[] };

/** The elements among nodes; between them stands white space only. @throws INVALID_REQUEST */
function elementsOf(nodes: readonly Node[]): readonly Element[] {
  return nodes.flatMap((node) => {
    const text = node['#text'];
    if (typeof text === 'string') {
      if (text.trim() !== '') throw invalid('it has a text between elements');
      return [];
    }
    return Object.entries(node).flatMap(([name, children]) => (Array.isArray(children) ? [{ name, children }] : []));
  });
}

/** @throws INVALID_REQUEST when there is anything but texts */
const textOf = (nodes: readonly Node[]): string =>
  nodes
    .map((node) => {
      const text = node['#text'];
      if (typeof text === 'string') return resolved(text);
      const cdata = node[CDATA];
      const [inner] = Array.isArray(cdata) ? (cdata as readonly Node[]) : [];
      const raw = inner?.['#text'];
      if (cdata === undefined || (inner !== undefined && typeof raw !== 'string'))
        throw invalid('a Key and Quiet are texts');
      return typeof raw === 'string' ? raw : '';
    })
    .join('');

const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** @throws INVALID_REQUEST for an entity that is not predefined */
function resolved(text: string): string {
  return text.replaceAll(/&([^;&]{0,12};?)/g, (_all, rest: string) => {
    const name = rest.slice(0, -1);
    if (rest.endsWith(';') && NAMED[name] !== undefined) return NAMED[name];
    const digits = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}))$/.exec(name);
    const code = digits === null ? 0 : Number.parseInt(digits[1] ?? digits[2] ?? '', digits[1] === undefined ? 10 : 16);
    const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    if (!rest.endsWith(';') || !isCharacter) throw invalid('it has an entity that is not known');
    return String.fromCodePoint(code);
  });
}

const invalid = (why: string): SkeinError =>
  new SkeinError('INVALID_REQUEST', `the body of a deletion cannot be signed: ${why}`);
