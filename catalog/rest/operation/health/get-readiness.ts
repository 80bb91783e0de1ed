import type { CatalogContext } from '../../../context.ts';
import { askPostgres } from '../../../store/postgres/connect.ts';
import { ok, type Answer } from '../../rest-operation.ts';

/** `GET /health/ready`: 200 when Postgres answers, else 503. */
export async function getReadiness(context: CatalogContext): Promise<Answer> {
  try {
    await askPostgres(context.store.db);
    return ok({ status: 'ready' });
  } catch {
    return { status: 503, body: { status: 'the metadata store does not answer' } };
  }
}
