/** Nodes that somebody drags. */

import type { MultiDirectedGraph } from "graphology";
import type Sigma from "sigma";
import type { EdgeAttributes, NodeAttributes } from "./attributes";
import type { Point } from "./placement";

type Drawn = Sigma<NodeAttributes, EdgeAttributes>;

/** Pixels up to which a press that moves is a click. */
const STEADY = 3;

/** Move a node that is dragged alone, and tell where it is put; return whether the last press was a drag, and no click. */
export function watchDrags(sigma: Drawn, graph: MultiDirectedGraph<NodeAttributes, EdgeAttributes>, onPut: (id: string, place: Point) => void): () => boolean {
  let [dragged, hasMoved]: [string | undefined, boolean] = [undefined, false];
  let from: Point = { x: 0, y: 0 };
  sigma.getMouseCaptor().on("mousedown", ({ x, y }) => {
    [from, hasMoved] = [{ x, y }, false];
  });
  sigma.on("downNode", ({ node, event }) => {
    if (event.original.shiftKey || graph.getNodeAttribute(node, "kind") === "pile") return;
    dragged = node;
  });
  sigma.on("moveBody", ({ event, preventSigmaDefault }) => {
    if (dragged === undefined || !graph.hasNode(dragged)) return;
    preventSigmaDefault();
    event.original.preventDefault();
    if (!hasMoved && Math.hypot(event.x - from.x, event.y - from.y) <= STEADY) return;
    // The picture keeps its scale meanwhile.
    if (!hasMoved) sigma.setCustomBBox(sigma.getBBox());
    hasMoved = true;
    graph.mergeNodeAttributes(dragged, sigma.viewportToGraph(event));
  });
  sigma.getMouseCaptor().on("mouseup", () => {
    if (dragged !== undefined && hasMoved && graph.hasNode(dragged)) {
      sigma.setCustomBBox(null);
      const { x, y } = graph.getNodeAttributes(dragged);
      onPut(dragged, { x, y });
    }
    dragged = undefined;
  });
  return () => hasMoved;
}

/** Look for a node below the pointer only while nothing is dragged: that reads pixels, which waits until all is drawn. */
export function hoverUnlessDragged(sigma: Drawn): void {
  const captor = sigma.getMouseCaptor();
  const hovers = captor.listeners("mousemove");
  captor.on("mousedown", () => captor.removeAllListeners("mousemove"));
  captor.on("mouseup", () => {
    captor.removeAllListeners("mousemove");
    for (const hover of hovers) captor.on("mousemove", hover);
  });
}
