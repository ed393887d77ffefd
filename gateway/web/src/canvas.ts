/** Draws the picture, and tells where somebody clicks. */

import { createEdgeCurveProgram } from "@sigma/edge-curve";
import { createNodeBorderProgram } from "@sigma/node-border";
import { MultiDirectedGraph } from "graphology";
import Sigma from "sigma";
import { createEdgeArrowProgram } from "sigma/rendering";
import { type EdgeAttributes, type NodeAttributes, nodeAttributes, pileAttributes } from "./attributes";
import { foldedIn, isBlank } from "./blanks";
import { type Mark, type Theme, hash } from "./colors";
import { hoverUnlessDragged, watchDrags } from "./dragging";
import { spoken } from "./names";
import { lineAt } from "./edge_hits";
import { watchFrames } from "./framing";
import { type Box, spotsAround } from "./labels";
import { type Label, Overlay } from "./overlay";
import { denialOf, isDenied, qualifierOf } from "./evidence";
import { bendParallelEdges } from "./parallel_edges";
import type { Point } from "./placement";
import { Placer } from "./placer";
import type { Scene } from "./downloads";
import type { Shown } from "./shown";
import { type Star, starsOf } from "./stars";
import { type Step, nextOf } from "./steps";

export interface Look {
  selected: readonly string[];
  /** Keys of edges that are selected. */
  edges: readonly string[];
  /** Piles that are open. */
  opened: ReadonlySet<string>;
  labels: Readonly<Record<string, string>>;
  marks: ReadonlyMap<string, Mark>;
  /** Nodes that stay where somebody put them. */
  pinned: ReadonlyMap<string, Point>;
  theme: Theme;
}

export interface Handlers {
  /** `isFurther`: whether it is selected beside others. */
  onClick(id: string, isFurther: boolean): void;
  onDoubleClick(id: string): void;
  onBackground(): void;
  onPile(key: string): void;
  /** The badge of a hub was pressed. */
  onBadge(id: string): void;
  onEdges(keys: readonly string[]): void;
  /** Several nodes were framed. */
  onFrame(ids: readonly string[]): void;
  /** A node was put somewhere. */
  onPin(id: string, place: Point): void;
}

/** Edges beyond which they are not drawn while the picture moves. */
const MANY_EDGES = 1_500;

/** Edges that belong to no star, up to which all have their labels. */
const SMALL_EDGES = 12;

/** Edges of what is selected, and of paths, beyond which their labels would lie over each other. */
const MOST_EDGE_LABELS = 30;

/** Nodes in view of which labels are placed in each frame, and nodes that may have one. */
const MOST_MOVING = 400;
const MOST_LABELS = 150;
const REST_MILLISECONDS = 120;

/** Before the key of the label of the edges between two nodes. */
const EDGE = "edge ";

/** Before the ID of a hub, in the key of its badge. */
const BADGE = "badge ";

/** The heads of arrows: long enough to show the direction of a thin edge. */
const ARROW = { extremity: "target", lengthToThicknessRatio: 4, widenessToThicknessRatio: 3 } as const;

/** Nodes beyond which each is drawn smaller. */
const MANY_NODES = 300;

export class Canvas {
  private readonly graph = new MultiDirectedGraph<NodeAttributes, EdgeAttributes>();
  private readonly sigma: Sigma<NodeAttributes, EdgeAttributes>;
  private readonly overlay: Overlay;
  private readonly placer = new Placer((places, isDone) => this.move(places, isDone));
  /** Where nodes were that are not shown now. */
  private readonly last = new Map<string, Point>();
  private stars: readonly Star[] = [];
  private look: Look | undefined;
  private shown = "";
  private hovered: string | undefined;
  /** The edge below the pointer. */
  private hoveredEdge: string | undefined;
  /** What each edge is called in whole, by its key. */
  private readonly edgeNames = new Map<string, string>();
  private isPlaced = false;
  /** Nodes that are shown, those in piles included. */
  private total = 0;
  private rest: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly element: HTMLElement,
    handlers: Handlers,
  ) {
    this.sigma = new Sigma<NodeAttributes, EdgeAttributes>(this.graph, element, {
      defaultNodeType: "border",
      defaultEdgeType: "arrow",
      nodeProgramClasses: {
        border: createNodeBorderProgram<NodeAttributes, EdgeAttributes>({
          borders: [
            { color: { attribute: "borderColor" }, size: { value: 0.22 } },
            { color: { attribute: "color" }, size: { value: 0.38 } },
            { color: { attribute: "core" }, size: { fill: true } },
          ],
        }),
      },
      edgeProgramClasses: {
        arrow: createEdgeArrowProgram<NodeAttributes, EdgeAttributes>(ARROW),
        curved: createEdgeCurveProgram<NodeAttributes, EdgeAttributes>({ arrowHead: ARROW }),
      },
      stagePadding: 70,
      // The overlay writes them.
      renderLabels: false,
      renderEdgeLabels: false,
      defaultDrawNodeHover: () => undefined,
      zIndex: false,
      hideEdgesOnMove: false,
      // The element has no size while its page is hidden.
      allowInvalidContainer: true,
    });
    this.overlay = new Overlay(element.parentElement ?? element, (key) => {
      if (key.startsWith(EDGE)) handlers.onEdges(this.between(key));
      else if (key.startsWith(BADGE) && isBlank(key.slice(BADGE.length))) handlers.onPile(key.slice(BADGE.length));
      else if (key.startsWith(BADGE)) handlers.onBadge(key.slice(BADGE.length));
      else handlers.onPile(key);
    });
    const wasDragged = watchDrags(this.sigma, this.graph, (id, place) => handlers.onPin(id, place));
    this.sigma.on("moveBody", ({ event: { x, y, original } }) => {
      const isFree = this.hovered === undefined && !(original as MouseEvent).buttons && element.contains(original.target as Node);
      const edge = isFree ? this.edgeAt({ x, y }) : undefined;
      if (edge !== this.hoveredEdge && (isFree || this.hoveredEdge !== undefined)) this.hoverEdge(edge);
    });
    const isPile = (node: string): boolean => this.graph.getNodeAttribute(node, "kind") === "pile";
    this.sigma.on("clickNode", ({ node, event }) => {
      if (wasDragged()) return;
      if (isPile(node)) handlers.onPile(node);
      else handlers.onClick(node, event.original.shiftKey || event.original.ctrlKey || event.original.metaKey);
    });
    this.sigma.on("doubleClickNode", ({ node, preventSigmaDefault }) => {
      preventSigmaDefault();
      if (!isPile(node)) handlers.onDoubleClick(node);
    });
    this.sigma.on("clickStage", ({ event: { x, y } }) => {
      const edge = this.edgeAt({ x, y });
      if (edge === undefined) handlers.onBackground();
      else handlers.onEdges([edge]);
    });
    this.sigma.on("enterNode", ({ node }) => this.hover(node));
    this.sigma.on("leaveNode", () => this.hover(undefined));
    this.sigma.on("resize", () => this.pad());
    this.sigma.on("afterRender", () => this.labelSoon());
    hoverUnlessDragged(this.sigma);
    watchFrames(element, (from, to) => handlers.onFrame(this.within(from, to)));
  }

  /** What is drawn now, for a file. */
  scene(): Scene {
    const { width, height } = this.sigma.getDimensions();
    const ratio = Math.sqrt(this.sigma.getCamera().ratio);
    const at = (id: string): Point => this.sigma.graphToViewport(this.pointOf(id));
    return {
      width,
      height,
      nodes: this.graph.mapNodes((id, { size, color, core, borderColor }) => ({ ...at(id), radius: size / ratio, color, core, border: borderColor })),
      edges: this.graph.mapEdges((_key, { size, color }, from, to) => ({
        from: at(from),
        to: at(to),
        radius: this.graph.getNodeAttribute(to, "size") / ratio,
        width: size,
        color,
      })),
      labels: this.overlay.placed,
      theme: this.look!.theme,
    };
  }

  /** The edges that have a label together. */
  private between(key: string): string[] {
    const [from, to] = key.slice(EDGE.length).split("\n") as [string, string];
    return this.graph.hasNode(from) && this.graph.hasNode(to) ? this.graph.edges(from, to) : [];
  }

  /** The edge at a point; among many none is looked for. */
  private edgeAt(at: Point): string | undefined {
    if (this.graph.size > MANY_EDGES) return undefined;
    const lines = this.graph.mapEdges((key, { curvature, type }, from, to) => ({ key, from: this.placeOf(from)!, to: this.placeOf(to)!, curvature: type === "curved" ? curvature : 0 }));
    return lineAt(at, lines.filter(({ key }) => isOfGraph(key)));
  }

  private within(from: Point, to: Point): string[] {
    const [left, right, top, bottom] = [Math.min(from.x, to.x), Math.max(from.x, to.x), Math.min(from.y, to.y), Math.max(from.y, to.y)];
    return this.graph.filterNodes((_id, attributes) => {
      const { x, y } = this.sigma.graphToViewport(attributes);
      return attributes.kind !== "pile" && x >= left && x <= right && y >= top && y <= bottom;
    });
  }

  /** Draw what is shown; nodes that were there keep their place. */
  show(all: Shown, look: Look): void {
    this.look = look;
    this.total = all.nodes.size;
    const { shown, held } = foldedIn(all, look.opened, new Set(look.selected));
    this.stars = starsOf(shown, look.opened, new Set(look.selected));
    const folded = new Set(this.stars.flatMap(({ sectors }) => sectors.flatMap((sector) => sector.folded)));
    const piles = this.stars.flatMap(({ center, sectors }) => sectors.filter((each) => each.folded.length).map((sector) => ({ center, sector })));
    const kept = new Set([...shown.nodes.keys()].filter((id) => !folded.has(id)));
    for (const { sector } of piles) kept.add(sector.key);
    for (const id of this.graph.nodes()) {
      if (kept.has(id)) continue;
      this.last.set(id, this.pointOf(id));
      this.graph.dropNode(id);
    }
    const neighbours = neighboursIn(shown);
    const scale = shown.nodes.size > MANY_NODES ? 0.5 : 1;
    for (const node of shown.nodes.values()) {
      if (!kept.has(node.id)) continue;
      const others = neighbours.get(node.id) ?? [];
      this.put(node.id, nodeAttributes(node, look, others.length, scale, held.get(node.id)), others);
    }
    for (const { center, sector } of piles) this.put(sector.key, pileAttributes(sector.folded.length, look), [center]);
    this.putEdges(shown, look);
    for (const { center, sector } of piles) {
      const [from, to] = sector.relations[0]!.isIncoming ? [sector.key, center] : [center, sector.key];
      const attributes: EdgeAttributes = { size: 2, name: "", type: "arrow", curvature: 0, color: look.theme.edge, isOfStar: true };
      if (!this.graph.hasEdge(sector.key)) this.graph.addDirectedEdgeWithKey(sector.key, from, to, attributes);
      else this.graph.mergeEdgeAttributes(sector.key, attributes);
    }
    bendParallelEdges(this.graph);
    this.sigma.setSetting("hideEdgesOnMove", shown.edges.size > MANY_EDGES);
    this.placeAll();
  }

  /** Draw again what was hidden, in the room that there is now. */
  awake(): void {
    this.sigma.resize();
    this.pad();
    this.sigma.refresh();
    this.label();
  }

  /** Show all of the picture. */
  fit(): void {
    void this.sigma.getCamera().animatedReset();
  }

  /** Where a node is drawn. */
  placeOf(id: string): Point | undefined {
    return this.graph.hasNode(id) ? this.sigma.graphToViewport(this.pointOf(id)) : undefined;
  }

  /** The node that is next from another in a direction; from none, the most important one in view. */
  next(from: string | undefined, step: Step): string | undefined {
    const { width, height } = this.sigma.getDimensions();
    const nodes = this.graph.filterNodes((_id, { kind }) => kind !== "pile");
    const start = from === undefined ? undefined : this.placeOf(from);
    if (!start) return nodes.sort((one, other) => this.graph.getNodeAttribute(other, "weight") - this.graph.getNodeAttribute(one, "weight"))[0];
    const found = nextOf(start, step, nodes.map((id) => [id, this.placeOf(id)!] as const));
    const at = found === undefined ? undefined : this.placeOf(found);
    if (found !== undefined && at && (at.x < 0 || at.y < 0 || at.x > width || at.y > height)) this.goTo(found);
    return found;
  }

  zoom(isCloser: boolean): void {
    const camera = this.sigma.getCamera();
    void (isCloser ? camera.animatedZoom() : camera.animatedUnzoom());
  }

  /** Bring a node into view. */
  goTo(id: string): void {
    const place = this.sigma.getNodeDisplayData(id);
    if (place) void this.sigma.getCamera().animate({ x: place.x, y: place.y }, { duration: 250 });
  }

  private put(id: string, attributes: Omit<NodeAttributes, "x" | "y">, others: readonly string[]): void {
    const pinned = this.look?.pinned.get(id);
    if (this.graph.hasNode(id)) this.graph.mergeNodeAttributes(id, { ...attributes, ...pinned });
    else this.graph.addNode(id, { ...(pinned ?? this.last.get(id) ?? this.placeBeside(id, others)), ...attributes });
  }

  private putEdges(shown: Shown, look: Look): void {
    const piles = new Set(this.stars.flatMap(({ sectors }) => sectors.map(({ key }) => key)));
    for (const key of this.graph.edges()) if (!shown.edges.has(key) && !piles.has(key)) this.graph.dropEdge(key);
    const seatedAt = new Map(this.stars.flatMap(({ center, offsets }) => [...offsets.keys()].map((id) => [id, center] as const)));
    const isOfStar = (subject: string, object: string): boolean => seatedAt.get(subject) === object || seatedAt.get(object) === subject;
    const selected = new Set(look.selected);
    const chosen = new Set(look.edges);
    const edges = [...shown.edges.values()].filter(({ subject, object }) => this.graph.hasNode(subject) && this.graph.hasNode(object));
    const free = edges.filter(({ subject, object }) => !isOfStar(subject, object));
    const hasPaths = edges.some(({ onPath }) => onPath);
    const isStrong = (edge: (typeof edges)[number]): boolean => hasPaths ? edge.onPath : selected.has(edge.subject) || selected.has(edge.object);
    const isSmall = free.length <= SMALL_EDGES;
    // How an edge holds is seen before anything is selected.
    const isTold = !hasPaths && free.filter((edge) => denialOf(edge.metadata) || qualifierOf(edge)).length <= MOST_EDGE_LABELS;
    this.edgeNames.clear();
    const isNamed = free.filter(isStrong).length <= MOST_EDGE_LABELS;
    for (const edge of edges) {
      const { key, subject, predicate, object } = edge;
      const isSelected = selected.has(subject) || selected.has(object);
      const denial = denialOf(edge.metadata);
      const [qualifier, ofStar, isChosen] = [qualifierOf(edge), isOfStar(subject, object), chosen.has(key)];
      const hasName = !ofStar && (hasPaths ? edge.onPath && isNamed : isSmall || (isNamed && isStrong(edge)) || (isTold && Boolean(denial || qualifier)));
      const name = `${denial && `${denial}: `}${spoken(predicate, look.labels)}${qualifier && ` (${qualifier})`}`;
      this.edgeNames.set(key, name);
      const attributes: EdgeAttributes = {
        size: edge.onPath || isChosen ? 4 : !hasPaths && (isSelected || isSmall) ? 2 : 1,
        // What is cut off is at the end.
        name: hasName ? name : ofStar ? [denial, qualifier].filter(Boolean).join("; ") : "",
        type: "arrow",
        curvature: 0,
        color: isChosen ? look.theme.text : isDenied(edge.metadata) && (!hasPaths || edge.onPath) ? look.theme.warning : edge.onPath ? look.theme.path : hasPaths ? look.theme.faintEdge : isSelected && !ofStar ? look.theme.strongEdge : look.theme.edge,
        isOfStar: ofStar,
      };
      if (this.graph.hasEdge(key)) this.graph.mergeEdgeAttributes(key, attributes);
      else this.graph.addDirectedEdgeWithKey(key, subject, object, attributes);
    }
  }

  private hover(id: string | undefined): void {
    this.hovered = id;
    this.element.style.cursor = id === undefined ? "" : "pointer";
    this.element.title = id === undefined || this.graph.getNodeAttribute(id, "kind") === "pile" ? "" : id;
    this.label();
  }

  /** Say of the edge below the pointer what it means. */
  private hoverEdge(key: string | undefined): void {
    this.hoveredEdge = key;
    this.element.style.cursor = key === undefined ? "" : "pointer";
    const [from, to] = key !== undefined && this.graph.hasEdge(key) ? this.graph.extremities(key).map((id) => this.graph.getNodeAttribute(id, "name")) : [];
    this.element.title = key === undefined || from === undefined ? "" : `${from} → ${this.edgeNames.get(key) ?? ""} → ${to ?? ""}`;
    this.label();
  }

  /** Place labels now, or when the picture rests where that takes long. */
  private labelSoon(): void {
    clearTimeout(this.rest);
    if (this.graph.order <= MOST_MOVING) {
      this.label();
      return;
    }
    this.overlay.hide();
    this.rest = setTimeout(() => this.label(), REST_MILLISECONDS);
  }

  private label(): void {
    if (!this.look) return;
    const { width, height } = this.sigma.getDimensions();
    const frame: Box = { minX: 2, minY: 2, maxX: width - 2, maxY: height - 2 };
    const [nodes, discs] = this.inView(frame);
    const labels = [...this.relationLabels(), ...this.nodeLabels(nodes), ...this.badges(nodes), ...this.edgeLabels()];
    const order = { seed: 0, pile: 1, badge: 1, relation: 2, node: 3, edge: 4, nameless: 5 } as const;
    labels.sort((one, other) => Number(other.isNeeded) - Number(one.isNeeded) || order[one.kind] - order[other.kind]);
    this.overlay.draw(labels, discs, frame);
    if (this.isPlaced) document.documentElement.dataset["labelled"] = String(this.overlay.placed.length);
  }

  /** Nodes that can be seen, the most important first, and the boxes of their discs. */
  private inView(frame: Box): [{ id: string; at: Point; radius: number; attributes: NodeAttributes }[], Box[]] {
    const ratio = this.sigma.getCamera().ratio;
    const nodes = this.graph
      .mapNodes((id, attributes) => ({ id, at: this.sigma.graphToViewport(attributes), radius: attributes.size / Math.sqrt(ratio), attributes }))
      .filter(({ at, radius }) => at.x + radius > frame.minX && at.y + radius > 0 && at.x - radius < frame.maxX && at.y - radius < frame.maxY);
    nodes.sort((one, other) => other.attributes.weight - one.attributes.weight);
    // A label may touch the corners of the box around a disc.
    const discs = nodes.map(({ at: { x, y }, radius }) => ({ minX: x - 0.8 * radius, minY: y - 0.8 * radius, maxX: x + 0.8 * radius, maxY: y + 0.8 * radius }));
    return [nodes, discs];
  }

  private nodeLabels(nodes: readonly { id: string; at: Point; radius: number; attributes: NodeAttributes }[]): Label[] {
    const selected = new Set(this.look!.selected);
    return nodes.slice(0, MOST_LABELS).map(({ id, at, radius, attributes: { kind, name } }) => {
      const isHovered = id === this.hovered;
      const isNeeded = isHovered || kind === "seed" || kind === "pile" || selected.has(id);
      const broken = this.overlay.broke(name, kind, isHovered ? { mostLines: 6, widest: 220 } : {});
      return { key: id, kind, isNeeded, ...broken, spots: spotsAround(at, radius, broken.width, broken.height, isNeeded) };
    });
  }

  /** How many edges hubs have; pressed, they tell their relations. */
  private badges(nodes: readonly { id: string; at: Point; radius: number; attributes: NodeAttributes }[]): Label[] {
    return nodes.slice(0, MOST_LABELS).flatMap(({ id, at, radius, attributes: { badge, name } }) => {
      if (!badge) return [];
      const broken = this.overlay.broke(badge, "badge", { mostLines: 1 });
      return [{ key: `${BADGE}${id}`, kind: "badge" as const, isNeeded: true, told: isBlank(id) ? `${this.look!.opened.has(id) ? "Fold" : "Unfold"} ${name}` : `Relations of ${name}`, ...broken, spots: spotsAround(at, radius, broken.width, broken.height, true) }];
    });
  }

  /** The name and the count of each relation, once at its sector. */
  private relationLabels(): Label[] {
    return this.stars.flatMap(({ center, inner, sectors }) => {
      const from = this.pointOf(center);
      return sectors.map(({ key, relations, count, angle }) => {
        const names = relations.map(({ predicate, isIncoming }) => `${isIncoming ? "← " : ""}${spoken(predicate, this.look!.labels)}${isIncoming ? "" : " →"}`);
        const broken = this.overlay.broke(`${[...new Set(names)].join(", ")} ${count.toLocaleString("en")}`, "relation", { widest: 100 });
        const spots = [0.62, 0.74, 0.5, 0.84, 0.4].flatMap((share) =>
          [0, 0.12, -0.12, 0.24, -0.24].map((turn) =>
            this.sigma.graphToViewport({ x: from.x + share * inner * Math.cos(angle + turn), y: from.y + share * inner * Math.sin(angle + turn) }),
          ),
        );
        return { key: `relation ${key}`, kind: "relation" as const, isNeeded: true, ...broken, spots };
      });
    });
  }

  private edgeLabels(): Label[] {
    const names = new Map<string, { ends: readonly [string, string]; names: Set<string> }>();
    const hovered = this.hoveredEdge !== undefined && this.graph.hasEdge(this.hoveredEdge) ? this.hoveredEdge : undefined;
    this.graph.forEachEdge((key, { name: short }, from, to) => {
      const name = key === hovered ? this.edgeNames.get(key) : short;
      if (!name) return;
      const pair = from < to ? `${from}\n${to}` : `${to}\n${from}`;
      if (!names.has(pair)) names.set(pair, { ends: [from, to], names: new Set() });
      names.get(pair)!.names.add(name);
    });
    const pointed = hovered === undefined ? undefined : this.graph.extremities(hovered).sort().join("\n");
    return [...names].map(([pair, { ends, names: several }]) => {
      const isPointed = pair === pointed;
      const [from, to] = ends.map((id) => this.sigma.graphToViewport(this.pointOf(id))) as [Point, Point];
      const broken = this.overlay.broke([...several].sort((one, other) => Number(other.startsWith("DENIED")) - Number(one.startsWith("DENIED"))).join(", "), "relation", isPointed ? { mostLines: 6, widest: 200 } : { mostLines: 2 });
      const spots = [0.5, 0.42, 0.58, 0.34, 0.66].map((share) => ({ x: from.x + share * (to.x - from.x), y: from.y + share * (to.y - from.y) }));
      return { key: `${EDGE}${pair}`, kind: "edge" as const, isNeeded: isPointed, ...broken, spots };
    });
  }

  /** Around the picture there is room for labels, less where the frame is small. */
  private pad(): void {
    const { width, height } = this.sigma.getDimensions();
    const padding = Math.round(Math.max(34, Math.min(70, 0.12 * Math.min(width, height))));
    if (padding !== this.sigma.getSetting("stagePadding")) this.sigma.setSetting("stagePadding", padding);
  }

  private placeAll(): void {
    this.pad();
    const ids = this.graph.nodes();
    const seats = this.stars.map(({ center, offsets }) => `${center} ${[...offsets.keys()].join(" ")}`).join("|");
    const pinned = [...(this.look?.pinned.keys() ?? [])].filter((id) => this.graph.hasNode(id));
    const shown = `${ids.join(" ")}|${this.graph.size}|${seats}|${pinned.map((id) => JSON.stringify(this.look!.pinned.get(id))).join(" ")}`;
    if (shown === this.shown) return;
    this.shown = shown;
    this.isPlaced = false;
    delete document.documentElement.dataset["labelled"];
    if (!ids.length) return;
    const positions = new Map(ids.map((id, place) => [id, place]));
    this.placer.place({
      nodes: ids.map((id) => [id, this.pointOf(id)]),
      edges: this.graph.mapEdges((_key, _attributes, from, to) => [positions.get(from)!, positions.get(to)!]),
      rings: this.stars.map(({ center, radius, offsets }) => ({
        center: positions.get(center)!,
        radius,
        members: [...offsets].map(([id, offset]) => [positions.get(id)!, offset] as const),
      })),
      fixed: pinned.map((id) => positions.get(id)!),
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
    // An answer to an earlier task is of other nodes.
    this.isPlaced = isDone && places.size === this.graph.order;
    this.graph.updateEachNodeAttributes((id, attributes) => {
      const place = places.get(id);
      return place ? { ...attributes, x: place.x, y: place.y } : attributes;
    }, { attributes: ["x", "y"] });
    if (this.isPlaced) document.documentElement.dataset["placed"] = String(this.total);
  }
}

/** Whether a key is that of an edge, and not of what leads to a pile. */
function isOfGraph(key: string): boolean {
  return key.split("\n").length === 3;
}

function neighboursIn({ nodes, edges }: Shown): Map<string, string[]> {
  const neighbours = new Map<string, string[]>([...nodes.keys()].map((id) => [id, []]));
  for (const { subject, object } of edges.values()) {
    neighbours.get(subject)!.push(object);
    neighbours.get(object)!.push(subject);
  }
  return neighbours;
}
