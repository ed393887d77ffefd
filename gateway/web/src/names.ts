/** What types, predicates and nodes are called on the page. */

/** Characters that turn the direction of text, that cannot be seen, or that XML cannot have. */
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\u{e0000}-\u{e007f}]/gu;

/** Return a text on one line, without characters that could change how others are read. */
export function plain(text: string): string {
  return text.replace(INVISIBLE, " ").replace(/\s+/g, " ").trim();
}

/** Return the name of a term: what the graph calls it, else its local name as words; its ID if it has neither. */
export function spoken(id: string, labels: Readonly<Record<string, string>> = {}): string {
  const label = Object.hasOwn(labels, id) ? plain(labels[id]!) : "";
  return label || inSteps(id, (step) => (step === id ? "" : spoken(step, labels)) || words(localName(step))) || id;
}

/** Return the local name of an ID; of a path, and of what stands in parentheses, the local names of its steps, as the gateway's `local_form` does. */
export function localForm(id: string): string {
  return inSteps(id, localName);
}

const STEP = /(\^?)(<[^<>]*>|[^/^<>:]*:[^/^<>]*)/g;
const PATH = new RegExp(`^${STEP.source}(?:/${STEP.source})*$`);

/** Return a text with each predicate of a path in words; parentheses and `^` stay. */
function inSteps(id: string, said: (step: string) => string): string {
  if (id.startsWith("(") && id.endsWith(")") && id.length > 2) return `(${inSteps(id.slice(1, -1), said)})`;
  const steps = !id.startsWith("(") && PATH.test(id) ? [...id.matchAll(STEP)] : [];
  if (steps.length < 2 && !steps[0]?.[1]) return said(id);
  return steps.map(([, inverse, step]) => `${inverse}${said(step!)}`).join("/");
}

/** What stands behind the last of `#`, `/` and `:`. */
export function localName(id: string): string {
  const local = id.replace(/^<|>$/g, "").replace(/[#/:]+$/, "").split(/[#/:]/).at(-1) ?? "";
  try {
    return decodeURIComponent(local);
  } catch {
    return local;
  }
}

function words(local: string): string {
  const parts = plain(local)
    .replaceAll("_", " ")
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .trim()
    .split(/\s+/);
  const isLoud = parts.every((part) => part === part.toUpperCase()) && parts.join("").length > 4 && !/\d/.test(local);
  if (isLoud) return parts.join(" ").toLowerCase();
  return parts.map((part, place) => (place > 0 && /^\p{Lu}\p{Ll}/u.test(part) ? part.toLowerCase() : part)).join(" ");
}
