/** The texts above the picture, as SVG: what a test measures is what a person sees. */

import { type Placed, type Wanted, placedLabels, type Box, wrapped } from "./labels";

const SVG = "http://www.w3.org/2000/svg";
const FONT = "system-ui, sans-serif";
export const LINE_HEIGHT = 1.2;

export type Kind = "node" | "seed" | "nameless" | "relation" | "edge" | "pile" | "badge";

export const SIZES: Readonly<Record<Kind, number>> = { node: 12, seed: 13, nameless: 10, relation: 11, edge: 11, pile: 12, badge: 11 };

/** Widest line of a label, and most lines. */
const WIDEST = 118;
const MOST_LINES = 3;

export interface Label extends Omit<Wanted, "lines"> {
  kind: Kind;
  lines: readonly string[];
  /** What a screen reader says of what can be pressed. */
  told?: string;
}

export class Overlay {
  readonly element: SVGSVGElement;
  private readonly drawn = new Map<string, SVGGElement>();
  private readonly measure = document.createElement("canvas").getContext("2d");
  private readonly widths = new Map<string, number>();
  private readonly broken = new Map<string, readonly string[]>();
  /** The labels that stand now. */
  placed: readonly (Placed & { kind: Kind; told?: string | undefined })[] = [];

  constructor(
    container: HTMLElement,
    /** Somebody pressed a pile, or the label of an edge. */
    private readonly onPress: (key: string) => void,
  ) {
    this.element = document.createElementNS(SVG, "svg");
    this.element.setAttribute("class", "labels");
    this.element.dataset["testid"] = "labels";
    container.append(this.element);
  }

  /** Return the lines of a text, and how much room they take. */
  broke(text: string, kind: Kind, { mostLines = MOST_LINES, widest = WIDEST } = {}): { lines: readonly string[]; width: number; height: number } {
    const key = `${kind} ${mostLines} ${widest} ${text}`;
    let lines = this.broken.get(key);
    if (!lines) this.broken.set(key, (lines = wrapped(text, widest, mostLines, (part) => this.widthOf(part, kind))));
    return {
      lines,
      width: Math.max(...lines.map((line) => this.widthOf(line, kind)), 1),
      height: lines.length * SIZES[kind] * LINE_HEIGHT,
    };
  }

  /** Draw those labels that find a place. */
  draw(labels: readonly Label[], nodes: readonly Box[], frame: Box): void {
    const kinds = new Map(labels.map(({ key, kind, told }) => [key, { kind, told }]));
    this.placed = placedLabels(labels, nodes, frame).map((each) => ({ ...each, ...kinds.get(each.key)! }));
    const kept = new Set(this.placed.map(({ key }) => key));
    for (const [key, group] of this.drawn) {
      if (kept.has(key)) continue;
      group.remove();
      this.drawn.delete(key);
    }
    for (const label of this.placed) this.write(label);
    this.element.style.visibility = "";
  }

  /** While the picture moves quickly. */
  hide(): void {
    this.element.style.visibility = "hidden";
  }

  private write({ key, kind, told, lines, x, y }: Placed & { kind: Kind; told?: string | undefined }): void {
    const size = SIZES[kind];
    let group = this.drawn.get(key);
    const text = lines.join("\n");
    if (!group || group.dataset["text"] !== text || group.dataset["kind"] !== kind) {
      const made = document.createElementNS(SVG, "g");
      Object.assign(made.dataset, { text, kind });
      made.setAttribute("class", `label ${kind}`);
      made.setAttribute("font-size", String(size));
      if (kind === "pile" || kind === "edge" || kind === "badge") {
        made.setAttribute("role", "button");
        made.setAttribute("tabindex", "0");
        made.setAttribute("aria-label", told ?? (kind === "pile" ? `Show ${lines.join(" ")}` : `Evidence of ${lines.join(" ")}`));
        made.addEventListener("click", () => this.onPress(key));
        made.addEventListener("keydown", (event) => {
          if (event.key === "Enter" || event.key === " ") this.onPress(key);
        });
      } else made.setAttribute("aria-hidden", "true");
      lines.forEach((line, place) => {
        const element = document.createElementNS(SVG, "text");
        element.setAttribute("text-anchor", "middle");
        element.setAttribute("y", ((place - (lines.length - 1) / 2) * size * LINE_HEIGHT + size * 0.35).toFixed(1));
        element.textContent = line;
        made.append(element);
      });
      if (group) group.replaceWith(made);
      else this.element.append(made);
      this.drawn.set(key, (group = made));
    }
    group.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
  }

  private widthOf(text: string, kind: Kind): number {
    const key = `${kind} ${text}`;
    let width = this.widths.get(key);
    if (width === undefined) {
      const isBold = kind === "seed" || kind === "relation" || kind === "edge";
      if (this.measure) this.measure.font = `${isBold ? 600 : 400} ${SIZES[kind]}px ${FONT}`;
      width = this.measure?.measureText(text).width ?? text.length * SIZES[kind] * 0.6;
      this.widths.set(key, width);
    }
    return width;
  }
}
