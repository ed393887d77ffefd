/** How nodes and edges are drawn. */

import type { Look } from "./canvas";
import { NO_TYPE_COLOR, markOf } from "./colors";
import { isBlank, titleOf } from "./blanks";
import type { PictureNode } from "./picture";

/** Characters of a name that are drawn of the node below the pointer. */
const LONGEST_LABEL = 200;

export interface NodeAttributes {
  x: number;
  y: number;
  size: number;
  color: string;
  /** In the middle: another one where the type is drawn as a ring. */
  core: string;
  borderColor: string;
  name: string;
  /** What stands beside a hub, to be pressed; empty beside others. */
  badge: string;
  kind: "node" | "seed" | "nameless" | "pile";
  /** Labels of nodes with more are placed first. */
  weight: number;
}

export interface EdgeAttributes {
  type: "arrow" | "curved";
  curvature: number;
  size: number;
  /** Empty where nothing is written beside it. */
  name: string;
  color: string;
  /** Whether it is one of a centre, whose relations stand at their sector. */
  isOfStar: boolean;
}

export function nodeAttributes(node: PictureNode, look: Look, degree: number, scale: number, held?: number): Omit<NodeAttributes, "x" | "y"> {
  const isSelected = look.selected.includes(node.id);
  const { color, isRing } = markOf(look.marks, node.type);
  const isNameless = node.name === node.id && !node.isSeed;
  const name = titleOf(node, look.labels);
  return {
    size: scale * (isNameless ? 4 : (node.isSeed ? 9 : 6) + Math.min(8, Math.sqrt(degree)) + (node.isHub ? 5 : 0)),
    color,
    core: isRing ? look.theme.back : color,
    borderColor: isSelected ? look.theme.text : node.lacks.length ? look.theme.warning : node.isHub ? look.theme.text : color,
    name: shortened(name),
    badge: held !== undefined ? (look.opened.has(node.id) ? "fold" : `+${held.toLocaleString("en")}`) : node.isHub && !isBlank(node.id) ? (node.edges === undefined ? "hub" : `${node.edges.toLocaleString("en")} edges`) : "",
    kind: node.isSeed ? "seed" : isNameless ? "nameless" : "node",
    weight: (isSelected ? 1e9 : 0) + (node.isSeed ? 1e8 : 0) + (isNameless ? 0 : 1e4) + degree,
  };
}

export function pileAttributes(count: number, look: Look): Omit<NodeAttributes, "x" | "y"> {
  return { size: 9 + Math.min(6, Math.sqrt(count)), color: NO_TYPE_COLOR, core: NO_TYPE_COLOR, borderColor: look.theme.text, name: `${count.toLocaleString("en")} more`, badge: "", kind: "pile", weight: 1e7 };
}

/** Text of a graph is bounded wherever it is drawn. */
function shortened(text: string): string {
  const characters = [...text.slice(0, 4 * LONGEST_LABEL)];
  return characters.length > LONGEST_LABEL ? `${characters.slice(0, LONGEST_LABEL).join("")}…` : text;
}
