/** Which nodes a group of a table has. */

import { idAndName } from "./answers";
import { condition } from "./asked";

/** Longest condition that the tools take. */
const LONGEST = 1_000;

/** An ID, with a name behind it or none. */
const ID = /^(?:[\w.-]*:[^\s/"'][^\s"]*|<[^\s<>]+>)(?: |$)/u;
const LANGUAGE = /@[a-z]{2,3}(?:-[A-Za-z0-9]{1,8})*$/;
const LITERAL = /^(?:number|date|boolean|text|language text)$/;

/** Whether a value of a group is a node, as far as its form and the kinds of values tell. */
export function isNode(value: unknown, kinds: string): boolean {
  return typeof value === "string" && !kinds.split(", ").every((kind) => LITERAL.test(kind)) && ID.test(value);
}

/**
 * Return the condition that the nodes of a group fulfil; undefined where there is none.
 *
 * `kinds`: what kinds of values there are; empty where that is not known, and undefined where all are nodes.
 */
export function conditionFor(walk: string, value: unknown, kinds: string | undefined): string | undefined {
  if (value === null) return condition(walk, "missing", "");
  if (typeof value === "number") return `${walk} = ${value}`;
  if (typeof value !== "string" || value.startsWith("_:")) return undefined;
  if (kinds === undefined || isNode(value, kinds)) return short(`${walk} = ${idAndName(value)[0]}`);
  // What was cut is another text.
  if (value.endsWith("\u2026")) return undefined;
  const text = kinds === "" || kinds.includes("language text") || kinds.includes("\u2026") ? value.replace(LANGUAGE, "") : value;
  const quote = ['"', "'"].find((mark) => !text.includes(mark));
  const quoted = quote === undefined ? text : `${quote}${text}${quote}`;
  const asDate = condition(walk, "=", text);
  // A date may be written as a text too; 'in' means either.
  if (asDate === `${walk} = ${text}` && quote !== undefined && kinds !== "text") return `${walk} in ${text}, ${quoted}`;
  return short(`${walk} = ${quoted}`);
}

function short(written: string): string | undefined {
  return written.length > LONGEST ? undefined : written;
}
