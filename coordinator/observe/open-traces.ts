import type { Config } from '#shared/config/config-schema.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { Traces } from '../query/traces.ts';

/** Opens the export to `traces.otlp_endpoint`; null when there is none, and then none of the packages for it is loaded. */
export async function openTraces(config: Config, coordinatorId: string, log: Logger): Promise<Traces | null> {
  if (config['traces.otlp_endpoint'] === '') return null;
  const { exportTraces } = await import('./export-traces.ts');
  return exportTraces({
    endpoint: config['traces.otlp_endpoint'],
    sampleRatio: config['traces.sample_ratio'],
    instance: coordinatorId,
    log,
  });
}
