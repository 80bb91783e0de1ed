import type { CatalogContext } from '../../../context.ts';
import type { Answer, OpenRequest } from '../../operation.ts';

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;

/** What a proxy adds. */
const FORWARDED = ['forwarded', 'x-forwarded-for'];

/** `GET /metrics`, Prometheus text: on loopback, unless a proxy there passes on what comes from elsewhere, or with any valid token. */
export async function getMetrics(context: CatalogContext, request: OpenRequest): Promise<Answer> {
  const isLocal = LOOPBACK.test(request.remoteAddress) && !FORWARDED.some((name) => name in request.headers);
  if (!isLocal) await context.verifier.verify(request.headers.authorization);
  const { registry } = context.metrics;
  return { status: 200, text: await registry.metrics(), contentType: registry.contentType };
}
