import type { QueryReferences } from '../binding/query-references.ts';
import type { WantedConstant, WantedConstants } from '../binding/schema-views.ts';
import { fromTemplate, toTemplate, type QueryTemplate } from './query-template.ts';

type Literals = QueryTemplate['literals'];

/** The references of a text with their places in its template, so that they are those of every text that has it. */
export const referencesInTemplate = (references: QueryReferences, literals: Literals): QueryReferences =>
  moved(references, (position) => toTemplate(position, literals));

/** The references of a text that has the template: at its places, and with its literals where views are compared with them. */
export function referencesInText(references: QueryReferences, literals: Literals): QueryReferences {
  const own = new Map(literals.map(({ start, value }) => [start, value]));
  const inText = moved(references, (position) => fromTemplate(position, literals));
  const tables = inText.tables.map((table) => ({
    ...table,
    wanted: mapConstants(table.wanted, (constant) => {
      const value = constant.location === null ? undefined : own.get(constant.location);
      return value === undefined ? constant : { ...constant, text: String(value) };
    }),
  }));
  return { ...inText, tables };
}

function moved(references: QueryReferences, to: (position: number) => number): QueryReferences {
  const move = <Name extends { readonly location: number }>(name: Name): Name => ({
    ...name,
    location: to(name.location),
  });
  const tables = references.tables.map((table) => ({
    ...move(table),
    at: table.at === null ? null : move(table.at),
    wanted: mapConstants(table.wanted, ({ text, location }) => {
      return { text, location: location === null ? null : to(location) };
    }),
  }));
  return { ...references, tables, columns: references.columns.map(move), stars: references.stars.map(move) };
}

const mapConstants = (
  wanted: WantedConstants | undefined,
  change: (constant: WantedConstant) => WantedConstant,
): WantedConstants | undefined =>
  wanted === undefined
    ? undefined
    : Object.fromEntries(Object.entries(wanted).map(([name, lists]) => [name, lists.map((list) => list.map(change))]));
