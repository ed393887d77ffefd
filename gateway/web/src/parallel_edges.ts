/** Edges between the same two nodes. */

import { indexParallelEdgesIndex } from "@sigma/edge-curve";
import type { MultiDirectedGraph } from "graphology";
import type { EdgeAttributes, NodeAttributes } from "./attributes";

/** The curvature of the outermost of parallel edges. */
const CURVATURE = 0.3;

/** What `indexParallelEdgesIndex` says of an edge that has others beside it: its place among them, 0 in the middle. */
interface Indexed {
  parallelIndex?: number | null;
  parallelMaxIndex?: number | null;
}

/** Edges between the same two nodes, in either direction, are drawn beside each other. */
export function bendParallelEdges(graph: MultiDirectedGraph<NodeAttributes, EdgeAttributes>): void {
  indexParallelEdgesIndex(graph);
  graph.updateEachEdgeAttributes(
    (_key, attributes) => {
      const { parallelIndex, parallelMaxIndex } = attributes as unknown as Indexed;
      if (!parallelIndex || !parallelMaxIndex || attributes.isOfStar) return attributes;
      return { ...attributes, type: "curved", curvature: (CURVATURE * parallelIndex) / parallelMaxIndex };
    },
    { attributes: ["type", "curvature"] },
  );
}
