import * as duckdb from '@duckdb/node-api';
import { must } from '#shared/must.ts';
import type { PlannerScan } from '../binding/planner.ts';
import { toDuckDbType } from './duckdb-type-of.ts';

/** Makes the table function that stands for the scans of a request: it has columns and a number of rows, and is never run. */
export const scanFunction = (scanOf: (number: number) => PlannerScan | undefined): duckdb.DuckDBTableFunction =>
  duckdb.DuckDBTableFunction.create({
    name: 'skein_scan',
    parameterTypes: [duckdb.VARCHAR],
    supportsProjectionPushdown: true,
    bindFunction: (info) => {
      const scan = must(scanOf(Number(info.getParameter(0))), 'a scan of the request');
      for (const { name, type } of scan.columns) info.addResultColumn(name, toDuckDbType(type));
      if (scan.rowCount !== null) info.setCardinality(scan.rowCount, true);
    },
    initFunction: (info) => info.setError('a scan is planned, never run'),
    mainFunction: (info) => info.setError('a scan is planned, never run'),
  });
