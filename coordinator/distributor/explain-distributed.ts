import { printJson, type Json, type JsonObject } from '#shared/json.ts';
import { unreachable } from '#shared/must.ts';
import { printCount } from '#shared/print-count.ts';
import { jsonNode, textNode, type ExplainContext } from '../planner/explain-plan.ts';
import type { Partitioning } from '../plan/plan.ts';
import { printList } from '../plan/print-expression.ts';
import { bindingName, type TableBinding } from '../binding/table-binding.ts';
import type { DistributedPlan, Fragment, TaskShape, WholePlan } from './fragment.ts';

/**
 * EXPLAIN (TYPE DISTRIBUTED): the fragments, the result's first, each with its tasks, where its rows go and why, and what it reads. The
 * text is a line per node and detail, the JSON one document. `query.scans` are those of the plan (`separateScans`).
 */
export function explainDistributed(
  plan: DistributedPlan | WholePlan,
  query: { readonly scans: readonly TableBinding[] },
  format: 'text' | 'json',
): readonly string[] {
  if (plan.kind === 'whole') {
    if (format === 'json') return [printJson({ distributed: false, reason: plan.reason }, 2)];
    return [`This query runs whole on one worker: ${plan.reason}.`];
  }
  const context: ExplainContext = { scans: query.scans, rowsOf: null };
  const fragments = plan.fragments.toReversed();
  if (format === 'json') {
    return [printJson({ distributed: true, fragments: fragments.map((one) => jsonFragment(one, context)) }, 2)];
  }
  return fragments.flatMap((fragment, i) => [...(i === 0 ? [] : ['']), ...textFragment(fragment, context)]);
}

function textFragment(fragment: Fragment, context: ExplainContext): readonly string[] {
  const { stage, output, estimate, reason } = fragment;
  const to = output === null ? 'result' : printOutput(output, fragment.partitions);
  const size = `{rows: ${printCount(estimate.rows)}, bytes: ${printCount(estimate.bytes)}}`;
  return [
    `Fragment ${stage} -> ${to}  [${TASKS[fragment.tasks.kind]}]  ${size}`,
    ...(output === null ? [] : [`   why: ${reason}`]),
    ...textNode(fragment.plan, context, 0).map((line) => `   ${line}`),
  ];
}

const TASKS: Readonly<Record<TaskShape['kind'], string>> = {
  single: 'one task',
  splits: 'a task per share of the files',
  partitions: 'a task per partition',
  parts: 'a task per part of the rows',
};

function printOutput(output: Partitioning, partitions: number): string {
  switch (output.kind) {
    case 'gather':
    case 'broadcast':
    case 'keep':
      return output.kind;
    case 'hash':
      return `hash(${printList(output.keys)}) ${partitions} ways${output.spreadNulls ? ', NULLs spread' : ''}`;
    default:
      return unreachable(output);
  }
}

function jsonFragment(fragment: Fragment, context: ExplainContext): JsonObject {
  const { stage, tasks, output, partitions, estimate, reason, repeatable, inputs, scans } = fragment;
  const inputList = inputs.map(({ stage: from, read }): Json => ({ stage: from, read }));
  const scanList = scans.map(({ scan, read }): Json => {
    const binding = context.scans[scan];
    return { table: binding === undefined ? null : bindingName(binding), read };
  });
  return {
    stage,
    tasks: tasks.kind,
    output: output === null ? null : jsonOutput(output, partitions),
    reason,
    repeatable,
    estimates: estimate,
    inputs: inputList,
    scans: scanList,
    plan: jsonNode(fragment.plan, context),
  };
}

const jsonOutput = (output: Partitioning, partitions: number): JsonObject =>
  output.kind === 'hash'
    ? { kind: 'hash', keys: output.keys.map((key) => printList([key])), partitions, spreadNulls: output.spreadNulls }
    : { kind: output.kind };
