/**
 * Turns a compact answer into the reference shape.
 *
 * It does what `gateway/expand_compact.py` does, and passes the same examples. docs/contract.md, "The two shapes of an
 * answer", has both shapes.
 */

import type { Json } from "./answers";

const INCOMING = "^";
const BOTH_WAYS = "<->";
const OUTGOING = ">";
const OTHER = "other";
const FIRST = "1-";
const BLANK_ID = "_";
const BLANK_TYPE = "type";
const BLANK_EVIDENCE = "evidence";
const BEYOND = "beyond";
const AT_LEAST = "at least ";
const SOURCES = "source_documents";
const COINED = /^[A-Za-z]{1,12}_[a-z2-7]{3,52}$/;
const SURVEY = ["edges", "edge_rows_total", "blank_node_edges", "edges_failed"] as const;

/** Return an answer of any of the six tools in the reference shape; one that has it is returned as it is. */
export function expand(answer: Json): Json {
  const reader = new Reader();
  let expanded: Json;
  if (isObject(answer["edges"]) && !("id" in answer)) expanded = reader.subgraph(answer);
  else if ("id" in answer) expanded = reader.entity(answer);
  else if (isObject(answer["entity_types"])) expanded = reader.schema(answer);
  else if (isObject(answer["result"])) expanded = reader.entities(answer);
  else expanded = reader.search(answer);
  const labels: Record<string, string> = { ...(answer["labels"] as Record<string, string> | undefined), ...reader.labels };
  const ids = Object.keys(labels).sort(byCodePoints);
  return ids.length ? { ...expanded, labels: Object.fromEntries(ids.map((id) => [id, labels[id]])) } : expanded;
}

class Reader {
  /** The names that stood behind IDs of types, predicates and nodes of other pages. */
  readonly labels: Record<string, string> = {};
  /** The texts with which IDs stood first in what could be followed. */
  private readonly named = new Map<string, string>();

  subgraph(answer: Json): Json {
    const { via, node_columns, on_the_way, evidence_columns, continued, types, ...left } = answer;
    const listed = [...this.entries((answer["nodes"] ?? {}) as Json, (node_columns ?? []) as string[])];
    for (const node of this.entries((on_the_way ?? {}) as Json)) listed.push({ ...node, on_the_way: true });
    const columns = (evidence_columns ?? []) as string[];
    const adjacent = answer["edges"] as Record<string, Json>;
    const steps = firstSteps(adjacent);
    const known = new Set([...listed.map((node) => node["id"] as string), ...idsWithin(adjacent)]);
    // One relation of one seed tells nothing else; on its first page the seed is a node of it.
    const isAlone = !("node_count" in answer) && String(answer["page"] ?? FIRST).startsWith(FIRST);
    const seeds = isAlone ? Object.keys(adjacent).map((text) => text.split(" ", 1)[0]!) : [];
    // What stands in rows is told there.
    const ends = "rows" in answer ? [] : [...steps.keys()].filter((id) => !known.has(id) && id !== continued);
    const inEdges = new Set([...seeds, ...ends]);
    const ids = new Set([...known, ...inEdges]);
    const within: Json[] = [];
    const edges = [...this.adjacent(adjacent, ids, within)].map(([edge, evidence]) =>
      evidence === undefined ? edge : { ...edge, metadata: readEvidence(evidence, columns) },
    );
    const typeBelow = this.types(types);
    const nodes = [...listed, ...[...inEdges].map((id) => this.inEdges(id, typeBelow(steps.get(id) ?? ""))), ...within];
    const paths = (via ?? {}) as Record<string, string[]>;
    for (const node of nodes) {
      const path = paths[node["id"] as string];
      if (path) node["via"] = path.map((each) => each.split(" "));
    }
    if (isObject(left["schema_summary"])) {
      left["schema_summary"] = mapValues(left["schema_summary"], (value) =>
        Array.isArray(value) ? value.map((text) => this.id(text as string)) : value,
      );
    }
    // One relation that is all on one page is not counted.
    const counts = "page" in left ? {} : { node_count: nodes.length, edge_count: edges.length };
    return { ...counts, ...left, nodes, edges };
  }

  /** How the type of a node that stands in edges follows from the predicate below which it is first. */
  private types(said: unknown): (step: string) => string | undefined {
    if (typeof said === "string") {
      const type = this.id(said);
      return () => type;
    }
    const byStep = new Map<string, string>();
    for (const [step, ofStep] of Object.entries((said ?? {}) as Json)) {
      if (typeof ofStep === "string") byStep.set(step, this.id(ofStep));
      else for (const text of Object.keys(ofStep as Json)) this.id(text);
    }
    return (step) => byStep.get(step);
  }

  /** A node that stands only where edges lead to it; without a type, where its list has several. */
  private inEdges(id: string, type: string | undefined): Json {
    const name = this.labels[id];
    delete this.labels[id];
    return { id, ...(type === undefined ? {} : { entity_type: type }), ...(name === undefined ? {} : { name }) };
  }

  /** One entity, with a count before what each relation leads to. */
  entity(answer: Json): Json {
    const expanded: Json = { ...answer };
    if (typeof answer["entity_type"] === "string") expanded["entity_type"] = this.id(answer["entity_type"]);
    if (Array.isArray(answer["types"])) expanded["types"] = (answer["types"] as string[]).map((text) => this.id(text));
    if (isObject(answer["edges"])) expanded["edges"] = this.survey(answer["edges"]);
    return expanded;
  }

  /** What could be followed from an entity, with each name behind its ID again. */
  private survey(rows: Json): Json {
    const expanded: Json = {};
    for (const [key, said] of Object.entries(rows)) {
      const mark = [BOTH_WAYS, INCOMING].find((each) => key.startsWith(each)) ?? "";
      const listed = (Array.isArray(said) ? said : [said]) as (number | string)[];
      const isCounted = typeof listed[0] === "number" || String(listed[0]).startsWith(AT_LEAST);
      const [count, ...others] = isCounted ? listed : [listed.length, ...listed];
      const row = [count, ...others.map((text) => this.again(String(text)))];
      const predicate = this.again(key.slice(mark.length));
      for (const sign of mark === BOTH_WAYS ? ["", INCOMING] : [mark]) expanded[`${sign}${predicate}`] = row;
    }
    return expanded;
  }

  /** An ID with the name that stands where the answer has it first. */
  private again(text: string): string {
    const id = text.split(" ", 1)[0]!;
    if (!this.named.has(id)) this.named.set(id, text);
    return this.named.get(id)!;
  }

  entities(answer: Json): Json {
    const { prefixes, ...left } = answer;
    const known = (prefixes ?? {}) as Record<string, string>;
    const result = [...this.entries(answer["result"] as Json)].map((entity) => {
      const metadata = entity["metadata"] as Json;
      const survey: Json = {};
      for (const key of SURVEY) {
        if (key in metadata) survey[key] = key === "edges" ? this.survey(metadata[key] as Json) : metadata[key];
        delete metadata[key];
      }
      const id = entity["id"] as string;
      // Blank nodes, and their types, have no IRI.
      const iri = id.startsWith("_:") || id.startsWith("(") ? {} : { iri: iriOf(id, known) };
      return { ...entity, ...survey, ...iri };
    });
    const coined = Object.fromEntries(Object.entries(known).filter(([name]) => COINED.test(name)));
    return { not_found: [], ...left, ...(Object.keys(coined).length ? { prefixes: coined } : {}), result };
  }

  schema(answer: Json): Json {
    const expanded: Json = { ...answer };
    const counts: Record<string, unknown> = {};
    for (const key of ["entity_types", "predicates"]) {
      const listed = Object.entries(answer[key] as Json).map(([text, count]) => [this.id(text), count] as const);
      expanded[key] = listed.map(([id]) => id);
      expanded[`${key}_total`] = answer[`${key}_total`] ?? listed.length;
      for (const [id, count] of listed) if (count !== "?") counts[id] = count;
    }
    return { ...expanded, counts };
  }

  /** A search, or each of several. */
  search(answer: Json): Json {
    const expanded: Json = { ...answer };
    for (const key of ["result", "guesses", "by_meaning"]) {
      const rows = answer[key];
      if (Array.isArray(rows) && rows.every(Array.isArray)) expanded[key] = rows.map((row) => this.hit(row as unknown[]));
    }
    const queries = answer["queries"];
    if (Array.isArray(queries)) expanded["queries"] = queries.map((one) => this.search(one as Json));
    return expanded;
  }

  private hit(row: unknown[]): Json {
    const [text, type, ...others] = row as string[];
    const said: Json = {};
    ["match", "edges", "description", "matched", "differs"].forEach((key, place) => {
      if (others[place] !== undefined && others[place] !== null) said[key] = others[place];
    });
    return { ...identity(text!, this.id(type!)), ...nameIn(text!), ...said };
  }

  /** The ID with which a text begins; the name behind it is remembered. */
  private id(text: string): string {
    const blank = text.indexOf(" ");
    if (blank < 0) return text;
    const id = text.slice(0, blank);
    this.labels[id] = text.slice(blank + 1);
    return id;
  }

  private *entries(byType: Json, columns: readonly string[] = []): Generator<Json> {
    for (const [key, entries] of Object.entries(byType)) {
      const type = this.id(key);
      for (const entry of entries as (string | Json)[]) {
        if (typeof entry === "string") {
          yield { ...identity(entry, type), ...nameIn(entry) };
          continue;
        }
        for (const [text, said] of Object.entries(entry)) {
          const metadata: Json = { ...nameIn(text), ...(Array.isArray(said) ? cells(said, columns) : (said as Json)) };
          this.readTypes(metadata, type);
          yield { ...identity(text, type), metadata };
        }
      }
    }
  }

  private readTypes(metadata: Json, type: string): void {
    if (!("other_types" in metadata)) return;
    const others = (metadata["other_types"] as string[]).map((name) => this.id(name));
    delete metadata["other_types"];
    metadata["types"] = [type, ...others].sort(byCodePoints);
  }

  /** Yield each edge with its evidence; nodes within edges are added to `within`. */
  private *adjacent(edges: Record<string, Json>, ids: ReadonlySet<string>, within: Json[]): Generator<[Json, unknown]> {
    for (const [key, byPredicate] of Object.entries(edges)) {
      const node = this.id(key);
      for (const [step, others] of Object.entries(byPredicate)) {
        const mark = [BOTH_WAYS, INCOMING, OUTGOING].find((each) => step.startsWith(each)) ?? "";
        const predicate = this.id(step.slice(mark.length));
        for (const other of (Array.isArray(others) ? others : [others]) as (string | Json)[]) {
          let ends: [string, unknown][];
          let inner: Json = {};
          if (typeof other === "string") ends = [[other, undefined]];
          else if (BLANK_ID in other) {
            ends = [[identity(other[BLANK_ID] as string, "")["id"] as string, other[BLANK_EVIDENCE]]];
            inner = this.nodeWithin(other, `(${predicate})`, ids, within);
          } else ends = Object.entries(other);
          for (const [text, evidence] of ends) {
            const id = this.id(text);
            if (mark === INCOMING || mark === BOTH_WAYS) yield [{ subject: id, predicate, object: node }, evidence];
            if (mark !== INCOMING) yield [{ subject: node, predicate, object: id }, evidence];
            if (Object.keys(inner).length) yield* this.adjacent({ [id]: inner }, ids, within);
          }
        }
      }
    }
  }

  /** Add a node that stands within an edge, and return its own edges. */
  private nodeWithin(said: Json, implied: string, ids: ReadonlySet<string>, within: Json[]): Json {
    const { [BLANK_ID]: text, [BLANK_TYPE]: written, [BLANK_EVIDENCE]: _, ...left } = said;
    const type = this.id((written ?? implied) as string);
    const metadata: Json = nameIn(text as string);
    const edges: Json = {};
    for (const [key, value] of Object.entries(left)) (key !== BEYOND && isAmong(value, ids) ? edges : metadata)[key] = value;
    this.readTypes(metadata, type);
    within.push({ ...identity(text as string, type), metadata });
    return edges;
  }
}

/** The predicate below which each node that is none within an edge stands first, by ID. */
function firstSteps(edges: Readonly<Record<string, Json>>): Map<string, string> {
  const steps = new Map<string, string>();
  const first = (text: string) => text.split(" ", 1)[0]!;
  for (const byPredicate of Object.values(edges)) {
    for (const [step, others] of Object.entries(byPredicate)) {
      for (const other of (Array.isArray(others) ? others : [others]) as (string | Json)[]) {
        const texts = typeof other === "string" ? [other] : BLANK_ID in other ? [] : Object.keys(other);
        for (const id of texts.map(first)) if (!steps.has(id)) steps.set(id, first(step));
      }
    }
  }
  return steps;
}

/** Whether a value of a node within an edge is the other end of an edge, or several. */
function isAmong(value: unknown, ids: ReadonlySet<string>): boolean {
  const isEnd = (text: string) => ids.has(identity(text, "")["id"] as string);
  return (Array.isArray(value) ? value : [value]).some((one: unknown) =>
    typeof one === "string" ? isEnd(one) : isObject(one) && (BLANK_ID in one || Object.keys(one).some(isEnd)),
  );
}

/** The IDs of the nodes within edges. */
function* idsWithin(edges: unknown): Generator<string> {
  if (Array.isArray(edges)) for (const one of edges) yield* idsWithin(one);
  else if (isObject(edges)) {
    if (BLANK_ID in edges) yield identity(edges[BLANK_ID] as string, "")["id"] as string;
    for (const [key, value] of Object.entries(edges)) if (key !== BEYOND && key !== BLANK_EVIDENCE) yield* idsWithin(value);
  }
}

/** What an edge's metadata says: a row is one assertion, a list of rows several. */
function readEvidence(evidence: unknown, columns: readonly string[]): Json {
  if (isObject(evidence) && "assertions" in evidence) {
    const rows = (evidence["assertions"] as unknown[]).map((row) => assertion(row, columns));
    return { ...assertion(evidence["combined"], columns), assertions: rows };
  }
  if (isObject(evidence) || (columns.length > 0 && !Array.isArray((evidence as unknown[])[0]))) {
    return assertion(evidence, columns);
  }
  const rows = (evidence as unknown[]).map((row) => assertion(row, columns));
  return rows.length === 1 ? rows[0]! : { ...combined(rows), assertions: rows };
}

function assertion(row: unknown, columns: readonly string[]): Json {
  if (isObject(row)) return { ...row };
  const said = cells(row as unknown[], columns);
  if (SOURCES in said && !Array.isArray(said[SOURCES])) said[SOURCES] = [said[SOURCES]];
  return said;
}

/** What several assertions about one edge say together. */
function combined(assertions: readonly Json[]): Json {
  const first = assertions[0]!["confidence"];
  const sources = new Set(assertions.flatMap((each) => (each[SOURCES] ?? []) as string[]));
  const said: Json = {};
  if (assertions.every((each) => each["negated"])) said["negated"] = true;
  if (first !== undefined && assertions.every((each) => each["confidence"] === first)) said["confidence"] = first;
  if (sources.size) said[SOURCES] = [...sources].sort(byCodePoints);
  return said;
}

function cells(row: readonly unknown[], columns: readonly string[]): Json {
  const said: Json = {};
  columns.forEach((column, place) => {
    if (row[place] !== null && row[place] !== undefined) said[column] = row[place];
  });
  const others = (said[OTHER] ?? {}) as Json;
  delete said[OTHER];
  return { ...said, ...others };
}

function identity(text: string, type: string): Json {
  const blank = text.indexOf(" ");
  return { id: blank < 0 ? text : text.slice(0, blank), entity_type: type };
}

function nameIn(text: string): Json {
  const blank = text.indexOf(" ");
  return blank < 0 ? {} : { name: text.slice(blank + 1) };
}

function iriOf(id: string, prefixes: Readonly<Record<string, string>>): string {
  const colon = id.indexOf(":");
  const namespace = colon < 0 ? undefined : prefixes[id.slice(0, colon)];
  return namespace === undefined ? id.replace(/^</, "").replace(/>$/, "") : namespace + id.slice(colon + 1);
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function mapValues(object: Json, change: (value: unknown) => unknown): Json {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}

/** As Python sorts strings; JavaScript's own order is that of UTF-16 units. */
function byCodePoints(one: string, other: string): number {
  const [a, b] = [[...one], [...other]];
  for (let place = 0; place < a.length && place < b.length; place += 1) {
    const difference = a[place]!.codePointAt(0)! - b[place]!.codePointAt(0)!;
    if (difference) return difference;
  }
  return a.length - b.length;
}
