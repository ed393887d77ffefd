/** One answer inside this page: how an export writes it to a file, and a notebook shows it. There is no gateway. */

import type { Entity, Hits, Json, Node, Relation, Subgraph } from "./answers";
import { nameOf } from "./answers";
import { type Call, ToolError, type Tools } from "./tools";

/** The element that `gateway/export/picture.py` adds. */
const ELEMENT = "answer";

/** Other ends of a relation in a record. */
const MOST_ENDS = 5;

export interface Embedded {
  call: Call;
  answer: Subgraph;
  iris: Readonly<Record<string, string>>;
}

/** Return the answer inside this page; undefined if it has none. */
export function embedded(): Embedded | undefined {
  const text = document.getElementById(ELEMENT)?.textContent;
  return text ? (JSON.parse(text) as Embedded) : undefined;
}

/** Return a text without its case and the marks on its letters, which the gateway's search does not compare either. */
function folded(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}+/gu, "").toLowerCase();
}

/** Answers from the file alone. */
export class FileTools implements Tools {
  readonly canTraverse = false;
  private readonly nodes: ReadonlyMap<string, Node>;

  constructor(private readonly file: Embedded) {
    this.nodes = new Map(file.answer.nodes.map((node) => [node.id, node]));
  }

  call({ tool, arguments: given }: Call): Promise<Json> {
    if (tool === "search_entities") return Promise.resolve({ ...this.search(String(given["query"]), Number(given["limit"]), Number(given["offset"] ?? 0)) });
    const node = tool === "describe_entity" ? this.nodes.get(String(given["id"])) : undefined;
    if (node) return Promise.resolve(this.record(node));
    return Promise.reject(new ToolError("This file holds one answer and asks no gateway. Make the call below with bfsql-gateway."));
  }

  private search(query: string, limit: number, offset: number): Hits {
    const wanted = folded(query.trim());
    const found = this.file.answer.nodes.filter((node) => folded(nameOf(node)).includes(wanted) || folded(node.id) === wanted);
    return {
      result: found.slice(offset, offset + limit).map((node) => ({ id: node.id, entity_type: node.entity_type ?? "", name: nameOf(node) })),
      complete: true,
      ...(found.length > limit ? { found: found.length } : {}),
      ...(found.length > offset + limit ? { next_offset: offset + limit } : {}),
      ...(found.length ? {} : { next_steps: "No node of this file has such a name." }),
    };
  }

  private record(node: Node): Entity {
    const { name: _, ...metadata } = node.metadata ?? {};
    return {
      ...metadata,
      id: node.id,
      entity_type: node.entity_type ?? "",
      iri: this.file.iris[node.id] ?? node.id,
      name: nameOf(node),
      edges: this.relations(node.id),
      complete: this.file.answer.complete,
    };
  }

  private relations(id: string): Record<string, Relation> {
    const ends = new Map<string, string[]>();
    const add = (key: string, other: string): void => {
      if (!ends.has(key)) ends.set(key, []);
      ends.get(key)!.push(other);
    };
    for (const { subject, predicate, object } of this.file.answer.edges) {
      if (subject === id) add(predicate, object);
      if (object === id) add(`^${predicate}`, subject);
    }
    const named = (other: string): string => `${other} ${nameOf(this.nodes.get(other) ?? { id: other })}`;
    return Object.fromEntries([...ends].map(([key, others]) => [key, [others.length, ...others.slice(0, MOST_ENDS).map(named)]]));
  }
}
