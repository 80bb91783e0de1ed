import { metricsAccess } from '#shared/metrics-access.ts';
import type { CatalogContext } from '../../../context.ts';
import type { Answer, OpenRequest } from '../../rest-operation.ts';

/** `GET /metrics`: Prometheus text, for callers on this machine and for any valid token. */
export async function getMetrics({ config, verifier, metrics }: CatalogContext, request: OpenRequest): Promise<Answer> {
  const access = metricsAccess({ token: config['metrics.token'], verify: (header) => verifier.verify(header) });
  await access({ peer: request.remoteAddress, headers: request.headers });
  const { registry } = metrics;
  return { status: 200, text: await registry.metrics(), contentType: registry.contentType };
}
