import { describe, expect, it } from "vitest";
import { DARK, LIGHT, PALETTE, marksOf } from "../src/colors";

/** How people without one kind of cone see linear colours (Machado, Oliveira and Fernandes 2009, severity 1). */
const EYES = [
  [1, 0, 0, 0, 1, 0, 0, 0, 1],
  [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
] as const;

function linear(color: string): number[] {
  const parts = [1, 3, 5].map((place) => parseInt(color.slice(place, place + 2), 16) / 255);
  return parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
}

/** OKLab, in which distances are those that are seen. */
function seen(color: string, eye: readonly number[]): number[] {
  const given = linear(color);
  const [r, g, b] = [0, 3, 6].map((row) => Math.min(1, Math.max(0, given.reduce((sum, part, place) => sum + eye[row + place]! * part, 0)))) as [number, number, number];
  const [l, m, s] = [
    0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b,
    0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b,
    0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b,
  ].map(Math.cbrt) as [number, number, number];
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s,
  ];
}

describe("the marks of types", () => {
  it("differ for each kind of eyes", () => {
    for (const eye of EYES) {
      for (const [place, one] of PALETTE.entries()) {
        for (const other of PALETTE.slice(place + 1)) {
          const [here, there] = [seen(one, eye), seen(other, eye)];
          expect(Math.hypot(...here.map((part, axis) => part - there[axis]!)), `${one} ${other}`).toBeGreaterThan(0.08);
        }
      }
    }
  });
  it("are twenty, ten discs and ten rings", () => {
    const marks = marksOf(Array.from({ length: 20 }, (_, place) => `x:T${place}`), []);
    expect(new Set([...marks.values()].map(({ color, isRing }) => `${color} ${isRing}`)).size).toBe(20);
    expect([...marks.values()].filter(({ isRing }) => isRing)).toHaveLength(10);
  });
  it("do not depend on what was seen first", () => {
    const known = ["x:A", "x:B", "x:C"];
    const one = marksOf(known, ["x:Z", "x:Y", "x:A"]);
    const other = marksOf(known, new Set(["x:A", "x:Y", "x:Z"]));
    expect([...one].sort()).toEqual([...other].sort());
    expect(marksOf(known, []).get("x:C")).toEqual(one.get("x:C"));
    expect(one.has("untyped")).toBe(false);
  });
  it("of more types than twenty are used again", () => {
    expect(marksOf(Array.from({ length: 50 }, (_, place) => `x:T${place}`), []).size).toBe(50);
  });
});

it.each([LIGHT, DARK])("a path has another colour than a warning, for each kind of eyes", ({ path, warning }) => {
  for (const eye of EYES) {
    const [here, there] = [seen(path, eye), seen(warning, eye)];
    expect(Math.hypot(...here.map((part, axis) => part - there[axis]!))).toBeGreaterThan(0.08);
  }
});
