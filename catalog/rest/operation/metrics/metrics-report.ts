import { parseExpression } from '#shared/iceberg/expression.ts';
import { printJson, type Json, type JsonObject } from '#shared/json.ts';
import {
  asObject,
  get,
  int,
  long,
  refuse,
  requiredArray,
  requiredInt,
  requiredLong,
  requiredString,
  stringList,
  stringMap,
} from '../../../metadata/json-reader.ts';

/** Maximum size of a report, as JSON. */
const REPORT_BYTES_MAX = 256 * 1024;
const METRICS_MAX = 1_000;

/** Checks a `ReportMetricsRequest` and prints just the members that the specification has. @throws INVALID_REQUEST */
export function printReport(body: Json | undefined): string {
  const object = asObject(body, 'metrics report');
  const type = requiredString(object, 'report-type');
  const text = printJson({ 'report-type': type, ...members(type, object) });
  if (Buffer.byteLength(text) > REPORT_BYTES_MAX) {
    refuse(`Invalid metrics report: it is longer than ${REPORT_BYTES_MAX} bytes`);
  }
  return text;
}

function members(type: string, object: JsonObject): JsonObject {
  const common = {
    'table-name': requiredString(object, 'table-name'),
    'snapshot-id': requiredLong(object, 'snapshot-id'),
    metrics: parseMetrics(get(object, 'metrics')),
    metadata: stringMap(get(object, 'metadata'), 'metadata'),
  };
  if (type === 'scan-report') {
    const filter = get(object, 'filter') ?? refuse('Cannot parse missing expression: filter');
    parseExpression(filter);
    return {
      ...common,
      filter,
      'schema-id': requiredInt(object, 'schema-id'),
      'projected-field-ids': requiredArray(object, 'projected-field-ids').map((id) => int(id, 'projected-field-ids')),
      'projected-field-names': stringList(requiredArray(object, 'projected-field-names'), 'projected-field-names'),
    };
  }
  if (type === 'commit-report') {
    return {
      ...common,
      'sequence-number': requiredLong(object, 'sequence-number'),
      operation: requiredString(object, 'operation'),
    };
  }
  return refuse(`Invalid report type: ${type}`);
}

function parseMetrics(json: Json | undefined): JsonObject {
  const entries = Object.entries(asObject(json, 'metrics'));
  if (entries.length > METRICS_MAX) refuse(`Invalid metrics report: more than ${METRICS_MAX} metrics`);
  return Object.fromEntries(entries.map(([name, value]) => [name, parseMetric(value)]));
}

/** A counter or a timer. */
function parseMetric(json: Json): JsonObject {
  const object = asObject(json, 'metric');
  const count = (key: string): Json => long(get(object, key) ?? refuse(`Cannot parse missing long: ${key}`), key);
  if (get(object, 'time-unit') === undefined) return { unit: requiredString(object, 'unit'), value: count('value') };
  return {
    'time-unit': requiredString(object, 'time-unit'),
    count: count('count'),
    'total-duration': count('total-duration'),
  };
}
