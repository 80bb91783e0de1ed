import type { JsonObject } from '#shared/json.ts';
import type { WantedConstant } from '../binding/schema-views.ts';

/** A view of INFORMATION_SCHEMA, or a relation of `pg_catalog`, in FROM. `places` are the names of its catalog, schema and relation columns. */
export type FoundView = {
  readonly name: string;
  readonly location: number;
  readonly alias: string;
  readonly places: readonly string[];
  readonly wanted: Map<string, readonly (readonly WantedConstant[])[]>;
};

/** A condition of WHERE or of a join. */
export type Condition = {
  readonly condition: JsonObject;
  /** Views whose rows must fulfil it to be seen. */
  readonly views: readonly FoundView[];
  /** It belongs to an inner join, or to WHERE. */
  readonly isInner: boolean;
  /** And no outer join around it keeps rows that do not fulfil it. */
  readonly isKept: boolean;
};
/** Views whose catalogs a join makes equal. */
export type EqualViews = { readonly views: readonly FoundView[]; readonly isInner: boolean };

/** The parts of one FROM. `names` are those by which columns refer to what is no view. */
export type From = {
  readonly views: FoundView[];
  readonly names: Set<string>;
  readonly conditions: Condition[];
  readonly groups: EqualViews[];
};
