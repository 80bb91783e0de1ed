import { SkeinError } from '#shared/error.ts';
import { takeProperties, takePropertyKey, type Properties } from '../../clause/properties.ts';
import type { Edit } from '../edit.ts';
import type { TableDraft } from '../table-draft.ts';

type AtPlace = { readonly position: number };

/** `SET PROPERTIES ('key' = 'value', ...)` */
export const setProperties: Edit<AtPlace & { readonly properties: Properties }> = {
  words: ['SET PROPERTIES'],
  parse(reader) {
    reader.words(2);
    const { position } = reader;
    return { properties: takeProperties(reader), position };
  },
  apply(draft, { properties, position }) {
    const { 'format-version': version, ...given } = Object.fromEntries(properties);
    for (const name of Object.keys(given)) requireOwn(name, position);
    const formatVersion = version === undefined ? draft.formatVersion : upgraded(draft, version, position);
    return {
      ...draft,
      formatVersion,
      setProperties: { ...draft.setProperties, ...given },
      removedProperties: draft.removedProperties.filter((name) => !Object.hasOwn(given, name)),
    };
  },
};

/** `UNSET PROPERTIES ('key', ...)`; a property that the table does not have is no error */
export const unsetProperties: Edit<AtPlace & { readonly names: readonly string[] }> = {
  words: ['UNSET PROPERTIES'],
  parse(reader) {
    reader.words(2);
    const { position } = reader;
    if (!reader.takeSymbol('(')) throw reader.expected("'('");
    const names: string[] = [];
    do names.push(takePropertyKey(reader));
    while (reader.takeSymbol(','));
    if (!reader.takeSymbol(')')) throw reader.expected("',' or ')'");
    return { names, position };
  },
  apply(draft, { names, position }) {
    for (const name of names) requireOwn(name, position);
    const removed = new Set(names);
    const kept = Object.entries(draft.setProperties).filter(([name]) => !removed.has(name));
    const present = names.filter((name) => Object.hasOwn(draft.base.properties, name));
    return {
      ...draft,
      setProperties: Object.fromEntries(kept),
      removedProperties: [...new Set([...draft.removedProperties, ...present])],
    };
  },
};

/** Names that stand for other parts of a table's metadata. */
const NOT_PROPERTIES: ReadonlySet<string> = new Set([
  'location',
  'format-version',
  'uuid',
  'current-schema',
  'current-snapshot-id',
  'default-partition-spec',
  'default-sort-order',
]);

function requireOwn(name: string, position: number): void {
  if (!NOT_PROPERTIES.has(name)) return;
  throw new SkeinError('NOT_SUPPORTED', `${name} is no property that can be changed`, { position });
}

function upgraded({ formatVersion }: TableDraft, text: string, position: number): number {
  const version = text === '2' ? 2 : text === '3' ? 3 : undefined;
  if (version !== undefined && version >= formatVersion) return version;
  throw new SkeinError(
    'NOT_SUPPORTED',
    `the table has format version ${formatVersion}, which can become 3 at most, and never less`,
    { position },
  );
}
