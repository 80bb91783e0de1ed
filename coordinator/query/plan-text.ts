import type { StatementContext } from '#shared/sql/statement-context.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import type { StatementReading } from '../operation/queries.ts';
import type { PrepareRequest } from '../prepare/prepare-request.ts';
import { SEEN, type TableReading } from '../resolver/bind-tables.ts';
import type { DerivedText } from '../statement/derived-text.ts';
import { namesAddress } from '../statement/names-address.ts';
import type { TextSpan } from '../statement/statement.ts';
import { placesIn } from '../statement/value-place.ts';
import { prepareDerivedText } from './prepare-derived-text.ts';
import type { StatementParts } from './statement-parts.ts';

export type PlanOptions = {
  /** A plan that was made for other literals will do. */
  readonly mayShare?: boolean;
  readonly reading?: StatementReading | undefined;
};

type Planned = PlanOptions & {
  readonly query: TextSpan;
  readonly text: DerivedText;
  readonly context: StatementContext;
};

/** Binds and plans a text that was made of a query of the statement. */
export async function planText(
  parts: StatementParts,
  { query, text, context, mayShare = false, reading }: Planned,
): Promise<PreparedQuery> {
  const { services, active, values: given } = parts;
  const startMs = active.elapsedMs();
  const more = { mayShare, reading: readingOf(query, reading) };
  const values = text.places(placesIn(query, given));
  const work = (one: PrepareRequest): Promise<PreparedQuery> => services.compiler.prepareQuery({ ...one, ...more });
  const prepared = await prepareDerivedText(parts, query, text, { context, values, work });
  services.metrics.planned(active.elapsedMs() - startMs);
  return prepared;
}

/** The caller's own text reads no addresses of a table with policies, and then ours does not, either. */
function readingOf({ text }: TextSpan, reading: StatementReading | undefined): TableReading {
  if (reading === 'raw') return { kind: 'raw' };
  return reading === 'addressed' && !namesAddress(text) ? { kind: 'addressed' } : SEEN;
}
