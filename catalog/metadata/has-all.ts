import type { Properties } from './table-document.ts';

/** Whether the properties are there already, with these values. */
export const hasAll = (properties: Properties, wanted: Properties): boolean =>
  Object.entries(wanted).every(([name, value]) => Object.hasOwn(properties, name) && properties[name] === value);
