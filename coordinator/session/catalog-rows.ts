import type { PgRelations } from '../binding/pg-rows.ts';
import type { SchemaViews } from '../binding/schema-views.ts';
import { pgRelations } from './pg-relation-rows.ts';
import { schemaViews } from './schema-view-rows.ts';

/** The relations of INFORMATION_SCHEMA and of Postgres' catalog as one statement sees them. */
export const catalogRows = (parts: Parameters<typeof pgRelations>[0]): SchemaViews & PgRelations => ({
  ...schemaViews(parts),
  ...pgRelations(parts),
});
