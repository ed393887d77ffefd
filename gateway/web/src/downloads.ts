/** The picture and its data as files. */

import type { Placed } from "./labels";
import type { Kind } from "./overlay";
import { LINE_HEIGHT, SIZES } from "./overlay";
import type { Theme } from "./colors";
import { howSaid } from "./evidence";
import type { Shown } from "./shown";

const SVG = "http://www.w3.org/2000/svg";

/** What is drawn, in pixels. */
export interface Scene {
  width: number;
  height: number;
  nodes: readonly { x: number; y: number; radius: number; color: string; core: string; border: string }[];
  edges: readonly { from: { x: number; y: number }; to: { x: number; y: number }; radius: number; width: number; color: string }[];
  labels: readonly (Placed & { kind: Kind })[];
  theme: Theme;
}

/** Return a scene as a file of SVG; texts are written by the DOM, which escapes them. */
export function svgOf({ width, height, nodes, edges, labels, theme }: Scene): string {
  const root = element("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "font-family": "system-ui, sans-serif" });
  root.append(element("rect", { width, height, fill: theme.back }));
  for (const { from, to, radius, width: thick, color } of edges) {
    root.append(element("line", { x1: from.x, y1: from.y, x2: to.x, y2: to.y, stroke: color, "stroke-width": thick }), head(from, to, radius, thick, color));
  }
  for (const { x, y, radius, color, core, border } of nodes) {
    root.append(element("circle", { cx: x, cy: y, r: radius, fill: border }), element("circle", { cx: x, cy: y, r: 0.78 * radius, fill: color }));
    if (core !== color) root.append(element("circle", { cx: x, cy: y, r: 0.4 * radius, fill: core }));
  }
  for (const { x, y, kind, lines } of labels) {
    const size = SIZES[kind];
    lines.forEach((line, place) => {
      const text = element("text", {
        x,
        y: y + (place - (lines.length - 1) / 2) * size * LINE_HEIGHT + size * 0.35,
        "font-size": size,
        "font-weight": kind === "seed" || kind === "relation" || kind === "edge" ? 600 : 400,
        "text-anchor": "middle",
        fill: theme.text,
        stroke: theme.back,
        "stroke-width": 3.5,
        "stroke-linejoin": "round",
        "paint-order": "stroke",
      });
      text.textContent = line;
      root.append(text);
    });
  }
  return new XMLSerializer().serializeToString(root);
}

/** Return an SVG as an image of twice its size. */
export async function pngOf(svg: string, { width, height }: Scene): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * width, 2 * height];
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("The picture is too large."))), "image/png"));
}

/** Return the edges that are shown as CSV, nodes without edges too. */
export function csvOf({ nodes, edges }: Shown, spoken: (id: string) => string): string {
  const cells = (id: string): string[] => [id, nodes.get(id)?.name ?? "", nodes.get(id)?.type ?? ""];
  const linked = new Set<string>();
  const rows = [...edges.values()].map(({ subject, predicate, object, metadata }) => {
    linked.add(subject).add(object);
    return [...cells(subject), predicate, spoken(predicate), ...cells(object), howSaid(metadata)];
  });
  for (const id of nodes.keys()) if (!linked.has(id)) rows.push([...cells(id), "", "", "", "", "", ""]);
  const head = ["subject", "subject_name", "subject_type", "predicate", "predicate_name", "object", "object_name", "object_type", "said"];
  return [head, ...rows].map((row) => row.map(cell).join(",") + "\r\n").join("");
}

/** Give somebody a file. */
export function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** What a spreadsheet would run (OWASP, "CSV Injection"). */
const FORMULA = /^(?=[\t\r\n])|(?:^|(?<=[;\t\r\n]))(?= *[=+\-@\uff1d\uff0b\uff0d\uff20])/g;

function cell(given: string): string {
  // Some spreadsheets begin a cell behind a semicolon or a tab too.
  const text = given.replace(FORMULA, "'");
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function element(name: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, typeof value === "number" ? String(Math.round(value * 10) / 10) : value);
  return made;
}

/** The head of an arrow, where it meets the disc of a node. */
function head(from: { x: number; y: number }, to: { x: number; y: number }, radius: number, thick: number, color: string): SVGElement {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const [x, y] = [(to.x - from.x) / length, (to.y - from.y) / length];
  const tip = { x: to.x - radius * x, y: to.y - radius * y };
  const [long, wide] = [5 + 2 * thick, 2.5 + thick];
  const corners = [tip, { x: tip.x - long * x + wide * y, y: tip.y - long * y - wide * x }, { x: tip.x - long * x - wide * y, y: tip.y - long * y + wide * x }];
  return element("polygon", { points: corners.map((corner) => `${corner.x.toFixed(1)},${corner.y.toFixed(1)}`).join(" "), fill: color });
}
