import dagre from '@dagrejs/dagre';
import { Background, Controls, MiniMap, ReactFlow, type Edge, type Node } from '@xyflow/react';
import { useMemo, type ReactNode } from 'react';
import '@xyflow/react/dist/style.css';
import type { QueryRunProfile, StageProfile } from '#coordinator/profile/profile-types.ts';
import { printCount, printMs } from '../app/print-figures.ts';

type Props = {
  readonly run: QueryRunProfile;
  readonly chosen: number | null;
  readonly onChoose: (stage: number) => void;
};

const [WIDTH, HEIGHT] = [190, 64];

/** The stages of a query: each reads those below it. The darker, the more of the time. */
export function StageGraph({ run, chosen, onChoose }: Props): ReactNode {
  const { nodes, edges } = useMemo(() => layOut(run), [run]);
  return (
    <div className="graph">
      <ReactFlow
        nodes={nodes.map((node) => ({ ...node, selected: node.id === String(chosen) }))}
        edges={edges}
        fitView
        fitViewOptions={{ maxZoom: 1 }}
        minZoom={0.1}
        nodesDraggable={false}
        nodesConnectable={false}
        proOptions={{ hideAttribution: true }}
        onNodeClick={(_event, { id }) => onChoose(Number(id))}
        aria-label="Plan"
      >
        <Background />
        <Controls showInteractive={false} />
        <MiniMap pannable ariaLabel="Map of the plan" />
      </ReactFlow>
    </div>
  );
}

function layOut({ stages }: QueryRunProfile): { readonly nodes: Node[]; readonly edges: Edge[] } {
  const graph = new dagre.graphlib.Graph()
    .setGraph({ rankdir: 'BT', nodesep: 24, ranksep: 48 })
    .setDefaultEdgeLabel(() => ({}));
  for (const { stage } of stages) graph.setNode(String(stage), { width: WIDTH, height: HEIGHT });
  const edges = stages.flatMap(({ stage, inputs }) =>
    inputs.map((input) => ({
      id: `${input.stage}-${stage}`,
      source: String(input.stage),
      target: String(stage),
      label: input.read,
    })),
  );
  for (const { source, target } of edges) graph.setEdge(source, target);
  dagre.layout(graph);
  const most = Math.max(1, ...stages.map(({ scheduledMs }) => scheduledMs));
  const nodes = stages.map((stage) => {
    const { x, y } = graph.node(String(stage.stage)) as { readonly x: number; readonly y: number };
    return {
      id: String(stage.stage),
      position: { x: x - WIDTH / 2, y: y - HEIGHT / 2 },
      data: { label: labelOf(stage) },
      className: `weight-${Math.min(4, Math.floor((stage.scheduledMs / most) * 4.99))}`,
      style: { width: WIDTH },
      sourcePosition: 'top' as Node['sourcePosition'],
      targetPosition: 'bottom' as Node['targetPosition'],
    } as Node;
  });
  return { nodes, edges };
}

/** A short label: what is read, or where rows go, with rows and time. */
function labelOf({ stage, scans, output, rows, scheduledMs }: StageProfile): string {
  const tables = scans.map(({ table }) => table.split('.').at(-1) ?? table).join(', ');
  return `${stage} · ${tables === '' ? output : tables}\n${printCount(rows)} rows · ${printMs(scheduledMs)}`;
}
