/** Draws the picture, and tells where somebody clicks. */

import { createEdgeCurveProgram, indexParallelEdgesIndex } from "@sigma/edge-curve";
import { createNodeBorderProgram } from "@sigma/node-border";
import { MultiDirectedGraph } from "graphology";
import Sigma from "sigma";
import { type NodeHoverDrawingFunction, createEdgeArrowProgram } from "sigma/rendering";
import { type Theme, colorOf } from "./colors";
import type { Picture, PictureNode } from "./picture";
import type { Point } from "./placement";
import { Placer } from "./placer";

export interface Look {
  hiddenTypes: ReadonlySet<string>;
  hiddenPredicates: ReadonlySet<string>;
  selected: readonly string[];
  theme: Theme;
}

export interface Handlers {
  onClick(id: string): void;
  onDoubleClick(id: string): void;
  onBackground(): void;
}

const LONGEST_LABEL = 48;

/** Edges beyond which they are not drawn while the picture moves. */
const MANY_EDGES = 1_500;

/** Edges of a picture in which all have their labels. */
const SMALL_EDGES = 12;

/** Edges of what is selected, and of paths, beyond which their labels would lie over each other. */
const MOST_EDGE_LABELS = 30;

/** The heads of arrows: long enough to show the direction of a thin edge. */
const ARROW = { extremity: "target", lengthToThicknessRatio: 4, widenessToThicknessRatio: 3 } as const;

/** The curvature of the outermost of parallel edges. */
const CURVATURE = 0.3;

/** What `indexParallelEdgesIndex` says of an edge that has others beside it: its place among them, 0 in the middle. */
interface Indexed {
  parallelIndex?: number | null;
  parallelMaxIndex?: number | null;
}

/** Nodes beyond which each is drawn smaller. */
const MANY_NODES = 300;

interface NodeAttributes {
  x: number;
  y: number;
  size: number;
  label: string;
  color: string;
  borderColor: string;
  hidden: boolean;
  highlighted: boolean;
}

interface EdgeAttributes {
  type: "arrow" | "curved";
  curvature: number;
  size: number;
  label: string;
  color: string;
  hidden: boolean;
  predicate: string;
}

export class Canvas {
  private readonly graph = new MultiDirectedGraph<NodeAttributes, EdgeAttributes>();
  private readonly sigma: Sigma<NodeAttributes, EdgeAttributes>;
  private readonly placer = new Placer((places, isDone) => this.move(places, isDone));
  private shown = "";

  constructor(element: HTMLElement, handlers: Handlers) {
    this.sigma = new Sigma<NodeAttributes, EdgeAttributes>(this.graph, element, {
      defaultNodeType: "border",
      defaultEdgeType: "arrow",
      nodeProgramClasses: {
        border: createNodeBorderProgram<NodeAttributes, EdgeAttributes>({
          borders: [
            { color: { attribute: "borderColor" }, size: { value: 0.22 } },
            { color: { attribute: "color" }, size: { fill: true } },
          ],
        }),
      },
      edgeProgramClasses: {
        arrow: createEdgeArrowProgram<NodeAttributes, EdgeAttributes>(ARROW),
        curved: createEdgeCurveProgram<NodeAttributes, EdgeAttributes>({ arrowHead: ARROW }),
      },
      stagePadding: 70,
      renderEdgeLabels: true,
      labelDensity: 0.6,
      labelRenderedSizeThreshold: 4,
      labelFont: "system-ui, sans-serif",
      labelColor: { color: "#1b1f24" },
      edgeLabelFont: "system-ui, sans-serif",
      edgeLabelSize: 10,
      zIndex: false,
      hideEdgesOnMove: false,
      // The element has no size while its page is hidden.
      allowInvalidContainer: true,
    });
    this.sigma.on("clickNode", ({ node }) => handlers.onClick(node));
    this.sigma.on("doubleClickNode", ({ node, preventSigmaDefault }) => {
      preventSigmaDefault();
      handlers.onDoubleClick(node);
    });
    this.sigma.on("clickStage", () => handlers.onBackground());
    this.hoverUnlessDragged();
  }

  /** Draw a picture; nodes that were there keep their place. */
  show(picture: Picture, look: Look): void {
    for (const id of this.graph.nodes()) if (!picture.nodes.has(id)) this.graph.dropNode(id);
    for (const key of this.graph.edges()) if (!picture.edges.has(key)) this.graph.dropEdge(key);
    const neighbours = neighboursIn(picture);
    for (const node of picture.nodes.values()) {
      const others = neighbours.get(node.id) ?? [];
      const attributes = nodeAttributes(node, look, others.length, picture.nodes.size > MANY_NODES ? 0.5 : 1);
      if (this.graph.hasNode(node.id)) this.graph.mergeNodeAttributes(node.id, attributes);
      else this.graph.addNode(node.id, { ...this.placeBeside(node.id, others), ...attributes });
    }
    const isSmall = picture.edges.size <= SMALL_EDGES;
    const isNamed = strongEdges(picture, look) <= MOST_EDGE_LABELS;
    for (const edge of picture.edges.values()) {
      const isSelected = look.selected.includes(edge.subject) || look.selected.includes(edge.object);
      const attributes: EdgeAttributes = {
        size: edge.onPath ? 4 : isSelected || isSmall ? 2 : 1,
        label: isSmall || (isNamed && (isSelected || edge.onPath)) ? shortened(picture.labels[edge.predicate] ?? edge.predicate) : "",
        type: "arrow",
        curvature: 0,
        color: edge.onPath ? look.theme.path : isSelected ? look.theme.strongEdge : look.theme.edge,
        hidden: look.hiddenPredicates.has(edge.predicate),
        predicate: edge.predicate,
      };
      if (this.graph.hasEdge(edge.key)) this.graph.mergeEdgeAttributes(edge.key, attributes);
      else this.graph.addDirectedEdgeWithKey(edge.key, edge.subject, edge.object, attributes);
    }
    bendParallelEdges(this.graph);
    this.sigma.setSetting("hideEdgesOnMove", picture.edges.size > MANY_EDGES);
    this.sigma.setSetting("defaultDrawNodeHover", hoverIn(look.theme));
    this.sigma.setSetting("labelColor", { color: look.theme.text });
    this.sigma.setSetting("edgeLabelColor", { color: look.theme.text });
    this.placeAll();
  }

  /** Show all of the picture. */
  fit(): void {
    void this.sigma.getCamera().animatedReset();
  }

  /** Bring a node into view. */
  goTo(id: string): void {
    const place = this.sigma.getNodeDisplayData(id);
    if (place) void this.sigma.getCamera().animate({ x: place.x, y: place.y }, { duration: 250 });
  }

  /** Look for a node below the pointer only while nothing is dragged: that reads pixels, which waits until all is drawn. */
  private hoverUnlessDragged(): void {
    const captor = this.sigma.getMouseCaptor();
    const hovers = captor.listeners("mousemove");
    captor.on("mousedown", () => captor.removeAllListeners("mousemove"));
    captor.on("mouseup", () => {
      captor.removeAllListeners("mousemove");
      for (const hover of hovers) captor.on("mousemove", hover);
    });
  }

  private placeAll(): void {
    const ids = this.graph.nodes();
    const shown = `${ids.join(" ")}|${this.graph.size}`;
    if (shown === this.shown) return;
    this.shown = shown;
    const positions = new Map(ids.map((id, place) => [id, place]));
    this.placer.place({
      nodes: ids.map((id) => [id, this.pointOf(id)]),
      edges: this.graph.mapEdges((_key, _attributes, from, to) => [positions.get(from)!, positions.get(to)!]),
    });
  }

  private pointOf(id: string): Point {
    const { x, y } = this.graph.getNodeAttributes(id);
    return { x, y };
  }

  /** A new node begins near one that it is connected to. */
  private placeBeside(id: string, others: readonly string[]): Point {
    const angle = (hash(id) / 0xffffffff) * 2 * Math.PI;
    const other = others.find((each) => this.graph.hasNode(each));
    const near = other === undefined ? { x: 0, y: 0 } : this.pointOf(other);
    const distance = other === undefined ? 100 : 40;
    return { x: near.x + distance * Math.cos(angle), y: near.y + distance * Math.sin(angle) };
  }

  private move(places: Map<string, Point>, isDone: boolean): void {
    this.graph.updateEachNodeAttributes((id, attributes) => {
      const place = places.get(id);
      return place ? { ...attributes, x: place.x, y: place.y } : attributes;
    }, { attributes: ["x", "y"] });
    if (isDone) document.documentElement.dataset["placed"] = String(places.size);
  }
}

/** How many edges are drawn stronger than others. */
function strongEdges(picture: Picture, look: Look): number {
  const selected = new Set(look.selected);
  return [...picture.edges.values()].filter((edge) => edge.onPath || selected.has(edge.subject) || selected.has(edge.object)).length;
}

/** Edges between the same two nodes, in either direction, are drawn beside each other. */
function bendParallelEdges(graph: MultiDirectedGraph<NodeAttributes, EdgeAttributes>): void {
  indexParallelEdgesIndex(graph);
  graph.updateEachEdgeAttributes(
    (_key, attributes) => {
      const { parallelIndex, parallelMaxIndex } = attributes as unknown as Indexed;
      if (!parallelIndex || !parallelMaxIndex) return attributes;
      return { ...attributes, type: "curved", curvature: (CURVATURE * parallelIndex) / parallelMaxIndex };
    },
    { attributes: ["type", "curvature"] },
  );
}

function neighboursIn(picture: Picture): Map<string, string[]> {
  const neighbours = new Map<string, string[]>([...picture.nodes.keys()].map((id) => [id, []]));
  for (const { subject, object } of picture.edges.values()) {
    neighbours.get(subject)!.push(object);
    neighbours.get(object)!.push(subject);
  }
  return neighbours;
}

function nodeAttributes(node: PictureNode, look: Look, degree: number, scale: number): Omit<NodeAttributes, "x" | "y"> {
  const isSelected = look.selected.includes(node.id);
  const color = colorOf(node.type);
  return {
    size: scale * ((node.isSeed ? 9 : 6) + Math.min(8, Math.sqrt(degree)) + (node.isHub ? 5 : 0)),
    label: shortened(node.name) + (node.isHub ? " (hub)" : ""),
    color,
    borderColor: isSelected ? look.theme.text : node.lacks.length ? look.theme.warning : node.isHub ? look.theme.text : color,
    hidden: look.hiddenTypes.has(node.type),
    highlighted: isSelected,
  };
}

/** Return what draws the node below the pointer: its label on a ground of its own. */
function hoverIn(theme: Theme): NodeHoverDrawingFunction<NodeAttributes, EdgeAttributes> {
  return (context, data, settings) => {
    if (!data.label) return;
    const size = settings.labelSize;
    context.font = `${settings.labelWeight} ${size}px ${settings.labelFont}`;
    const [left, top] = [data.x + data.size, data.y - size * 0.8];
    context.fillStyle = theme.back;
    context.fillRect(left, top, context.measureText(data.label).width + 8, size * 1.6);
    context.fillStyle = theme.text;
    context.fillText(data.label, left + 3, data.y + size / 3);
  };
}

/** Text of a graph is bounded wherever it is drawn. */
function shortened(text: string): string {
  const characters = [...text];
  return characters.length > LONGEST_LABEL ? `${characters.slice(0, LONGEST_LABEL).join("")}…` : text;
}

function hash(text: string): number {
  let value = 2166136261;
  for (let place = 0; place < text.length; place += 1) value = Math.imul(value ^ text.charCodeAt(place), 16777619) >>> 0;
  return value;
}
