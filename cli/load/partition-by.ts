import { SkeinError } from '#shared/error.ts';
import type { PartitionField } from '#shared/iceberg/partition-spec.ts';
import type { Schema } from '#shared/iceberg/schema.ts';
import { isTransformable, parseTransform, printTransform, type Transform } from '#shared/iceberg/transform.ts';
import { printType } from '#shared/iceberg/type.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';

/** One part of `--partition-by`. */
export type PartitionExpression = { readonly column: string; readonly transform: Transform };

const INVALID = 'INVALID_REQUEST';
const PART = /^(?:(\w+)\s*\(\s*(?:(\d+)\s*,\s*)?)?(?:"((?:[^"]|"")+)"|([^"(),\s]+))\s*(\))?$/;

/** Most fields of a partition spec. */
const FIELDS_MAX = 32;

/** Parses `month(ts), bucket(16, "User Id"), region`. @throws INVALID_REQUEST */
export function parsePartitionBy(text: string): readonly PartitionExpression[] {
  const parts = splitOutside(text).map(parsePart);
  if (parts.length > FIELDS_MAX) throw new SkeinError(INVALID, `more than ${FIELDS_MAX} partition fields`);
  return parts;
}

/** Splits at commas that stand outside of quotes and parentheses. */
function splitOutside(text: string): readonly string[] {
  const commas: number[] = [];
  let [isQuoted, isInside] = [false, false];
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (character === ',' && !isInside) commas.push(at);
    else if (character === '(' || character === ')') isInside = character === '(';
  }
  return [-1, ...commas].map((comma, i) => text.slice(comma + 1, commas[i]).trim());
}

function parsePart(text: string): PartitionExpression {
  const [, name, parameter, quoted, plain, closed] = PART.exec(text) ?? [];
  const column = quoted?.replaceAll('""', '"') ?? plain;
  if (column === undefined || (name === undefined) !== (closed === undefined)) {
    throw new SkeinError(INVALID, `not a partition field: ${text}`);
  }
  const kind = name?.toLowerCase() ?? 'identity';
  const transform = parseTransform(parameter === undefined ? singular(kind) : `${kind}[${parameter}]`);
  if (transform.kind === 'unknown' || transform.kind === 'void') {
    throw new SkeinError(INVALID, `unknown partition transform: ${text}`);
  }
  return { column, transform };
}

/** Spark and Trino say `months(ts)`. */
const singular = (name: string): string => name.replace(/^(year|month|day|hour)s$/, '$1');

/** The partition fields of a new table. @throws COLUMN_NOT_FOUND, INVALID_REQUEST */
export function partitionFields(
  expressions: readonly PartitionExpression[],
  schema: Schema,
): readonly PartitionField[] {
  const names = new Set(schema.fields.map((field) => field.name));
  return expressions.map(({ column, transform }, index) => {
    const source =
      schema.fields.find((field) => field.name === column) ??
      schema.fields.find((field) => foldIdentifier(field.name) === foldIdentifier(column));
    if (source === undefined) throw new SkeinError('COLUMN_NOT_FOUND', `no column ${column} to partition by`);
    if (!isTransformable(transform, source.type)) {
      const type = printType(source.type);
      const text = typeof type === 'string' ? type : source.type.kind;
      throw new SkeinError(INVALID, `column ${source.name} of type ${text} cannot have ${printTransform(transform)}`);
    }
    let name = transform.kind === 'identity' ? source.name : `${source.name}_${transform.kind}`;
    while (transform.kind !== 'identity' && names.has(name)) name = `${name}_part`;
    if (transform.kind !== 'identity') names.add(name);
    return { fieldId: 1000 + index, name, sourceId: source.id, transform };
  });
}
