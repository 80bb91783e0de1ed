import type { CatalogContext } from '../../../context.ts';
import type { Answer, OpenRequest } from '../../operation.ts';

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;

/** `GET /metrics`, Prometheus text: on loopback, or with any valid token. */
export async function getMetrics(context: CatalogContext, request: OpenRequest): Promise<Answer> {
  if (!LOOPBACK.test(request.remoteAddress)) await context.verifier.verify(request.headers.authorization);
  const { registry } = context.metrics;
  return { status: 200, text: await registry.metrics(), contentType: registry.contentType };
}
