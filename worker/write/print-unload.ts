import { unreachable } from '#shared/must.ts';
import type { StageSink } from '#shared/task/task.ts';
import type { UnloadFormat } from '#shared/stage/file-format.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';

/** The ending of the names that files have while they are written. */
const EXTENSION = 'part';

/** Prints the COPY that writes a query's rows as files of a stage into the folder `path`. They are numbered in their order (`fileNumber`). */
export function printUnload(query: string, sink: StageSink, path: string): string {
  const { fileBytes } = sink;
  const options = formatOptions(sink);
  if (fileBytes !== null) {
    options.push(`FILE_SIZE_BYTES ${fileBytes}`, "FILENAME_PATTERN '{i}'", `FILE_EXTENSION '${EXTENSION}'`);
  }
  const target = fileBytes === null ? `${path}/0.${EXTENSION}` : path;
  return `COPY (${query}\n) TO ${quoteLiteral(target)} (${options.join(', ')})`;
}

/** The place of a file among those of its COPY, by its name. */
export const fileNumber = (name: string): number => Number.parseInt(name, 10);

function formatOptions({ format, enclosed, rowGroupRows }: StageSink): string[] {
  switch (format.kind) {
    case 'csv': {
      const { delimiter, quote, escape, header, nullText } = format;
      return [
        'FORMAT csv',
        `DELIMITER ${quoteLiteral(delimiter)}`,
        `QUOTE ${quoteLiteral(quote ?? '')}`,
        `ESCAPE ${quoteLiteral(escape ?? '')}`,
        `HEADER ${header}`,
        `NULLSTR ${quoteLiteral(nullText)}`,
        ...(enclosed.length === 0 ? [] : [`FORCE_QUOTE (${enclosed.map(quoteIdentifier).join(', ')})`]),
        ...textOptions(format),
      ];
    }
    case 'json':
      return ['FORMAT json', ...textOptions(format)];
    case 'parquet': {
      const codec = format.compression === 'none' ? 'uncompressed' : format.compression;
      return ['FORMAT parquet', `COMPRESSION ${codec}`, `ROW_GROUP_SIZE ${rowGroupRows}`];
    }
    default:
      return unreachable(format);
  }
}

const textOptions = ({
  compression,
  dateFormat,
  timestampFormat,
}: Exclude<UnloadFormat, { readonly kind: 'parquet' }>): readonly string[] => [
  `COMPRESSION ${compression}`,
  ...(dateFormat === null ? [] : [`DATEFORMAT ${quoteLiteral(dateFormat)}`]),
  ...(timestampFormat === null ? [] : [`TIMESTAMPFORMAT ${quoteLiteral(timestampFormat)}`]),
];
