/** What of the picture is shown: filters and removed nodes are left out. */

import type { Picture, PictureEdge, PictureNode } from "./picture";

export interface Hidden {
  types: ReadonlySet<string>;
  predicates: ReadonlySet<string>;
  removed: ReadonlySet<string>;
}

export interface Shown {
  nodes: ReadonlyMap<string, PictureNode>;
  edges: ReadonlyMap<string, PictureEdge>;
}

/** Return what is shown; a node whose every edge is hidden by its predicate is hidden too, unless it is kept. */
export function shownOf(picture: Picture, hidden: Hidden, kept: ReadonlySet<string>): Shown {
  if (!hidden.types.size && !hidden.predicates.size && !hidden.removed.size) return picture;
  const nodes = new Map([...picture.nodes].filter(([id, node]) => !hidden.removed.has(id) && !hidden.types.has(node.type)));
  const [edges, linked, lost] = [new Map<string, PictureEdge>(), new Set<string>(), new Set<string>()];
  for (const [key, edge] of picture.edges) {
    const { subject, predicate, object } = edge;
    if (hidden.predicates.has(predicate)) {
      lost.add(subject).add(object);
      continue;
    }
    if (!nodes.has(subject) || !nodes.has(object)) continue;
    edges.set(key, edge);
    linked.add(subject).add(object);
  }
  for (const id of lost) if (!linked.has(id) && !kept.has(id) && !nodes.get(id)?.isSeed) nodes.delete(id);
  return { nodes, edges };
}
