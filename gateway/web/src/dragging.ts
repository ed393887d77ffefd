/** Nodes that somebody drags. */

import type { MultiDirectedGraph } from "graphology";
import type Sigma from "sigma";
import type { EdgeAttributes, NodeAttributes } from "./attributes";
import type { Point } from "./placement";

type Drawn = Sigma<NodeAttributes, EdgeAttributes>;

/** Move a node that is dragged alone, and tell where it is put. */
export function watchDrags(sigma: Drawn, graph: MultiDirectedGraph<NodeAttributes, EdgeAttributes>, onPut: (id: string, place: Point) => void): void {
  let [dragged, hasMoved]: [string | undefined, boolean] = [undefined, false];
  sigma.on("downNode", ({ node, event }) => {
    if (event.original.shiftKey || graph.getNodeAttribute(node, "kind") === "pile") return;
    [dragged, hasMoved] = [node, false];
  });
  sigma.on("moveBody", ({ event, preventSigmaDefault }) => {
    if (dragged === undefined || !graph.hasNode(dragged)) return;
    preventSigmaDefault();
    event.original.preventDefault();
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
