import { givenMessages, takeMessages, type Counted } from './carried-messages.ts';
import type { PartitionReport, TaskReport } from './task.ts';

/** A task's report as `RunTaskReply` carries it. */
type SentReport = { readonly report: Buffer; readonly messages: readonly Uint8Array[] };

type ReportJson = Omit<TaskReport, 'partitions'> & { readonly partitions: readonly Counted<PartitionReport>[] };

export function encodeReport({ partitions, ...report }: TaskReport): { report: Buffer; messages: Buffer[] } {
  const messages: Buffer[] = [];
  const json: ReportJson = { ...report, partitions: partitions.map((one) => takeMessages(one, messages)) };
  return { report: Buffer.from(JSON.stringify(json)), messages };
}

/** @throws SyntaxError, Error when it is not of `encodeReport` */
export function decodeReport({ report, messages }: SentReport): TaskReport {
  const json = JSON.parse(report.toString()) as ReportJson;
  const left = messages.values();
  return {
    ...json,
    partitions: json.partitions.map(({ messages: count, ...one }) => ({ ...one, ...givenMessages(count, left) })),
  };
}
