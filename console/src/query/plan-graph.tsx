import dagre from '@dagrejs/dagre';
import { Background, Controls, MiniMap, ReactFlow, type Edge, type Node } from '@xyflow/react';
import { useMemo, useState, type ReactNode } from 'react';
import '@xyflow/react/dist/style.css';
import { printCount } from '../app/print-figures.ts';
import { placePlan, type PlacedNode, type ShownNode } from './place-plan.ts';

type Props = {
  readonly plan: ShownNode;
  /** Milliseconds on cores of each stage: the darker, the more of the time. */
  readonly stageMs?: ReadonlyMap<number, number>;
};

const [WIDTH, HEIGHT] = [170, 52];

/** The operators of a plan: each reads those below it. A choice of one shows its details, and folds what lies below. */
export function PlanGraph({ plan, stageMs }: Props): ReactNode {
  const [chosen, choose] = useState<string | null>(null);
  const [folded, fold] = useState<ReadonlySet<string>>(new Set());
  const placed = useMemo(() => placePlan(plan, folded), [plan, folded]);
  const { nodes, edges } = useMemo(() => layOut(placed, stageMs), [placed, stageMs]);
  const one = placed.find(({ id }) => id === chosen);
  const turn = (id: string): void =>
    fold((before) => new Set(before.has(id) ? before.difference(new Set([id])) : [...before, id]));
  return (
    <div className="graph-and-details">
      <div className="graph">
        <ReactFlow
          nodes={nodes.map((node) => ({ ...node, selected: node.id === chosen }))}
          edges={edges}
          fitView
          fitViewOptions={{ maxZoom: 1 }}
          minZoom={0.05}
          nodesDraggable={false}
          nodesConnectable={false}
          onlyRenderVisibleElements
          proOptions={{ hideAttribution: true }}
          onNodeClick={(_event, { id }) => choose(id)}
          aria-label="Operators"
        >
          <Background />
          <Controls showInteractive={false} />
          <MiniMap pannable ariaLabel="Map of the plan" />
        </ReactFlow>
      </div>
      {one === undefined ? (
        <p className="quiet">A click on an operator shows its details.</p>
      ) : (
        <Details node={one} isFolded={folded.has(one.id)} onFold={() => turn(one.id)} />
      )}
    </div>
  );
}

type DetailsProps = { readonly node: PlacedNode; readonly isFolded: boolean; readonly onFold: () => void };

function Details({ node: { node }, isFolded, onFold }: DetailsProps): ReactNode {
  const { name, details, stage, estimates, children, omitted = 0 } = node;
  return (
    <div className="facts" role="group" aria-label="Operator">
      <strong>{name}</strong>
      {typeof stage === 'number' ? <div>Stage {stage}</div> : null}
      {estimates === undefined ? null : <div>{printCount(estimates.rows)} rows expected</div>}
      {details.map((line, at) => (
        <code key={at}>{line}</code>
      ))}
      {omitted > 0 ? <div className="quiet">{omitted} inputs are not shown</div> : null}
      {children.length > 0 ? (
        <button type="button" onClick={onFold}>
          {isFolded ? 'Unfold' : 'Fold'}
        </button>
      ) : null}
    </div>
  );
}

function layOut(
  placed: readonly PlacedNode[],
  stageMs: ReadonlyMap<number, number> | undefined,
): { readonly nodes: Node[]; readonly edges: Edge[] } {
  const graph = new dagre.graphlib.Graph()
    .setGraph({ rankdir: 'TB', nodesep: 20, ranksep: 36 })
    .setDefaultEdgeLabel(() => ({}));
  for (const { id } of placed) graph.setNode(id, { width: WIDTH, height: HEIGHT });
  const edges = placed.flatMap(({ id, parent }) =>
    parent === null ? [] : [{ id: `${parent}-${id}`, source: parent, target: id }],
  );
  for (const { source, target } of edges) graph.setEdge(source, target);
  dagre.layout(graph);
  const most = Math.max(1, ...(stageMs?.values() ?? []));
  const nodes = placed.map(({ id, node, folded }): Node => {
    const { x, y } = graph.node(id) as { readonly x: number; readonly y: number };
    const ms = stageMs?.get(node.stage ?? Number.NaN) ?? 0;
    return {
      id,
      position: { x: x - WIDTH / 2, y: y - HEIGHT / 2 },
      data: { label: labelOf(node, folded) },
      className: `weight-${Math.min(4, Math.floor((ms / most) * 4.99))}`,
      style: { width: WIDTH },
      width: WIDTH,
      height: HEIGHT,
    };
  });
  return { nodes, edges };
}

/** Longest name in a box; the details have all. */
const LABEL_MAX = 24;

function labelOf({ name, estimates }: ShownNode, folded: number): string {
  const short = name.length <= LABEL_MAX ? name : `${name.slice(0, LABEL_MAX - 1)}…`;
  const rows = estimates === undefined ? '' : `${printCount(estimates.rows)} rows`;
  return [short, folded > 0 ? `${rows} (+${folded})` : rows].filter((line) => line !== '').join('\n');
}
