/** Entities to begin with, on the empty page. */

import { signal } from "@preact/signals";
import { type Hit, type Hits, type Json, idAndName } from "./answers";
import type { Session } from "./session";

/** Types of which entities stand on the empty page, and how many of each. */
const FIRST_TYPES = 4;
const FIRST_ENTITIES = 4;
const LISTED_ENTITIES = 40;

/** Types of which a condition may be asked about. */
const MOST_TYPES = 20;

export interface Listing {
  title: string;
  hits: readonly Hit[];
  /** What is said of those that are not listed. */
  more?: string;
}

export class Listings {
  readonly shown = signal<Listing | undefined>(undefined);

  constructor(private readonly session: Session) {}

  /** List entities of a type. */
  async ofType(type: string): Promise<void> {
    await this.list(this.session.spoken(type), { node_types: [type], limit: LISTED_ENTITIES });
  }

  /** List entities from which a relation leads. */
  async ofRelation(predicate: string): Promise<void> {
    const types = this.session.schema.value?.entity_types.slice(0, MOST_TYPES) ?? [];
    await this.list(`From which "${this.session.spoken(predicate)}" leads`, { node_types: types, where: [`${predicate} exists`], limit: LISTED_ENTITIES });
  }

  /** Of each type those with most edges, among the first of its listing, which is by ID. */
  async first(types: readonly string[]): Promise<void> {
    const text = "Looking for entities to begin with";
    const asked = types.slice(0, FIRST_TYPES).map((type) => this.session.ask({ tool: "search_entities", arguments: { node_types: [type], limit: LISTED_ENTITIES } }, { quietly: true, text }));
    const found = (await Promise.all(asked)) as unknown as (Hits | undefined)[];
    const hits = new Map(found.flatMap((each) => mostLinked(each?.result ?? [])).map((hit) => [hit.id, hit]));
    if (hits.size && !this.shown.value) this.shown.value = { title: "Begin with", hits: [...hits.values()] };
  }

  private async list(title: string, given: Json): Promise<void> {
    const answer = (await this.session.ask({ tool: "search_entities", arguments: given }, { text: `Looking for entities: ${title}` })) as Hits | undefined;
    if (!answer) return;
    const rows = (answer.rows ?? []).map(([first]) => idAndName(String(first)));
    const hits = [...(answer.result ?? []), ...rows.map(([id, name]) => ({ id, entity_type: "", ...(name === undefined ? {} : { name }) }))];
    const isPart = answer.found !== undefined && answer.found !== hits.length;
    const said = [
      ...(isPart ? [`${hits.length} of ${answer.found!.toLocaleString("en")} are listed; a search finds the others by name.`] : []),
      ...(given["where"] ? [`Asked of the ${(given["node_types"] as string[]).length} most frequent types alone.`] : []),
      ...(answer.complete ? [] : ["There may be more than these."]),
    ];
    const more = said.join(" ");
    this.shown.value = { title, hits, ...(more ? { more } : {}) };
  }
}

function mostLinked(hits: readonly Hit[]): Hit[] {
  // A text is a number that is larger: ">=1000".
  const edges = ({ edges: count = 0 }: Hit): number => (typeof count === "number" ? count : Number(count.replace(/\D/g, "")));
  return [...hits].sort((one, other) => edges(other) - edges(one)).slice(0, FIRST_ENTITIES);
}
