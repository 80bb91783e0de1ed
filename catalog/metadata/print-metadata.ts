import { printJson } from '#shared/json.ts';
import { printableSchema } from './default-value.ts';
import type { TableDocument } from './table-document.ts';

/** The text of table metadata, for the file and for answers. */
export function metadataText(metadata: TableDocument): string {
  const text = printJson(metadata);
  // Few tables have defaults, and only they need a second look.
  if (!/"(initial|write)-default"/.test(text)) return text;
  return printJson({
    ...metadata,
    ...(metadata.schema === undefined ? {} : { schema: printableSchema(metadata.schema) }),
    schemas: metadata.schemas.map(printableSchema),
  });
}
