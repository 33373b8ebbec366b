// Draws the program as a graph: dagre computes the layout, the result is SVG.

import { svg } from "./dom.js";
import { Graph, layout } from "./vendor/dagre.esm.js";

const WIDTH = 196;
const HEIGHT = 54;
const LABEL_CHARS = 21;
const DETAIL_CHARS = 27;

/** An SVG of the graph {nodes: [{id, kind, label, detail}], edges: [{from, to}]}. */
export function draw({ nodes, edges }) {
  const graph = new Graph().setGraph({ rankdir: "LR", nodesep: 14, ranksep: 38, marginx: 2, marginy: 6 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes) graph.setNode(node.id, { width: WIDTH, height: HEIGHT });
  for (const edge of edges) if (graph.hasNode(edge.from) && graph.hasNode(edge.to)) graph.setEdge(edge.from, edge.to);
  layout(graph);
  const { width, height } = graph.graph();
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": inWords(nodes, edges) },
    svg("defs", {}, arrow()),
    ...graph.edges().map((edge) => svg("path", { class: "edge", d: path(graph, edge) })),
    ...nodes.map((node) => box(node, graph.node(node.id))),
  );
}

function box({ kind, label, detail }, { x, y }) {
  return svg(
    "g",
    { class: "node", "data-kind": kind, transform: `translate(${x - WIDTH / 2} ${y - HEIGHT / 2})` },
    svg("title", {}, `${kind}: ${label}${detail ? `\n${detail}` : ""}`),
    svg("rect", { width: WIDTH, height: HEIGHT, rx: 8 }),
    svg("text", { class: "kind", x: 12, y: 16 }, kind),
    svg("text", { class: "label", x: 12, y: 31 }, cut(label, LABEL_CHARS)),
    svg("text", { class: "detail", x: 12, y: 45 }, cut(detail, DETAIL_CHARS)),
  );
}

const cut = (text, chars) => (text.length > chars ? `${text.slice(0, chars - 1)}…` : text);

function arrow() {
  const head = { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" };
  return svg("marker", head, svg("path", { class: "head", d: "M1 1 7 4 1 7" }));
}

/** A path from the middle of a node's right edge to the middle of the next node's left edge, through dagre's bends. */
function path(graph, edge) {
  const from = graph.node(edge.v);
  const to = graph.node(edge.w);
  const bends = graph.edge(edge).points.slice(1, -1);
  const via = bends.length > 1 ? bends : []; // a single bend lies on the straight line between neighbours
  const points = [{ x: from.x + WIDTH / 2, y: from.y }, ...via, { x: to.x - WIDTH / 2, y: to.y }];
  return points.slice(1).reduce((drawn, point, index) => {
    const before = points[index];
    const middle = (before.x + point.x) / 2;
    return `${drawn}C${middle} ${before.y} ${middle} ${point.y} ${point.x} ${point.y}`;
  }, `M${points[0].x} ${points[0].y}`);
}

function inWords(nodes, edges) {
  const label = new Map(nodes.map((node) => [node.id, node.label]));
  return edges.map(({ from, to }) => `${label.get(from)} to ${label.get(to)}`).join(", ");
}
