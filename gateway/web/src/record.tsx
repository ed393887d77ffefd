import { type Entity, type Json, idAndName } from "./answers";
import { Languages } from "./languages";
import { plain, spoken } from "./names";
import { isBlank, titleOf } from "./blanks";
import { comparePlaces, denialOf, placesOf, saidIn } from "./evidence";
import { Omitted } from "./omitted";
import type { PictureEdge } from "./picture";
import type { Session } from "./session";
import { Value } from "./value";

const APART = new Set(["id", "entity_type", "iri", "name", "description", "edges", "edge_rows_total", "edges_failed", "complete", "labels", "prefixes", "degraded", "warnings", "blank_node_edges", "other_languages"]);

/** Members of a list in a record. */
const MOST_MEMBERS = 50;

/** The record of the selected node, or what can be done with several. */
export function Record({ session }: { session: Session }) {
  const selected = session.selected.value;
  const picture = session.picture.value;
  const [only] = selected;
  const chosen = session.edges.value.flatMap((key) => picture.edges.get(key) ?? []);
  if (chosen.length) return <EdgesRecord edges={chosen} session={session} />;
  if (only === undefined) {
    return (
      <aside class="record" id="record" aria-label="Record">
        <p class="quiet">{picture.nodes.size ? "" : "Choose an entity to begin with, or search for one. "}Select a node to read its record. Select several in the list to see what connects them.</p>
      </aside>
    );
  }
  if (selected.length > 1) {
    return (
      <aside class="record" id="record" aria-label="Record">
        <h2>{selected.length} nodes</h2>
        <ul>
          {selected.map((id) => (
            <li key={id}>{nameOf(id, session)}</li>
          ))}
        </ul>
        {session.canTraverse ? (
          <button type="button" onClick={() => void session.intersect(selected)}>
            What is near all of them
          </button>
        ) : null}
        {session.near.value !== undefined && isAsked(session, selected) ? <p data-testid="near">{session.near.value}</p> : null}
        <p class="actions">
          <button type="button" onClick={() => session.keepOnly(selected)}>
            Keep only these
          </button>
          <button type="button" title="Delete" onClick={() => session.remove(selected)}>
            Remove these
          </button>
        </p>
      </aside>
    );
  }
  const node = picture.nodes.get(only);
  const entity = session.described.value.get(only);
  const edges = [...picture.edges.values()].filter((edge) => edge.metadata && (edge.subject === only || edge.object === only));
  return (
    <aside class="record" id="record" aria-label="Record">
      <h2 data-testid="record-name">{entity?.name === undefined ? nameOf(only, session, entity) : plain(entity.name)}</h2>
      <p class="quiet">
        {typeName(session, entity?.entity_type ?? node?.type)} · <span title="ID">{only}</span>
      </p>
      {node ? (
        <p class="actions">
          {isBlank(only) && session.opened.value.has(only) ? (
            <button type="button" class="small" onClick={() => session.toggleOpened(only)}>
              Fold
            </button>
          ) : null}
          <button type="button" class="small" title="Delete" onClick={() => session.remove([only])}>
            Remove
          </button>
          {session.pinned.value.has(only) ? (
            <button type="button" class="small" onClick={() => session.unpin(only)}>
              Unpin
            </button>
          ) : null}
        </p>
      ) : null}
      {node?.lacks.map((lack) => (
        <p class="lack" key={lack}>
          {plain(lack)}
        </p>
      ))}
      {entity ? <EntityRecord entity={entity} session={session} /> : null}
      {edges.length ? (
        <details key={only}>
          <summary>
            Evidence of {edges.length.toLocaleString("en")} {edges.length === 1 ? "edge" : "edges"}
          </summary>
          <ul class="evidence">
            {edges.slice(0, 50).map((edge) => (
              <EdgeEvidence edge={edge} session={session} key={edge.key} />
            ))}
          </ul>
          {edges.length > 50 ? <p class="quiet">and of {edges.length - 50} more edges</p> : null}
          <Omitted session={session} />
        </details>
      ) : null}
    </aside>
  );
}

/** Whether the last answer is about the nodes that are selected. */
function isAsked(session: Session, selected: readonly string[]): boolean {
  const seeds = session.steps.value.at(-1)?.call.arguments["seeds"];
  return Array.isArray(seeds) && seeds.length === selected.length && seeds.every((seed) => selected.includes(String(seed)));
}

function typeName(session: Session, type: string | undefined): string | undefined {
  return type === undefined ? undefined : session.spoken(type);
}

function EntityRecord({ entity, session }: { entity: Entity; session: Session }) {
  const labels = { ...session.labels.value, ...entity.labels };
  const shown = Object.entries(entity).filter(([key]) => !APART.has(key));
  const descriptions = [entity["description"] ?? []].flat() as unknown[];
  return (
    <>
      {descriptions.map((each, place) => (
        <p key={place}>{typeof each === "string" ? plain(each) : <Value value={each} session={session} labels={labels} />}</p>
      ))}
      {!entity.complete ? <p class="lack">This record is not complete{entity.edges_failed ? `: ${entity.edges_failed}` : ""}.</p> : null}
      <dl>
        {shown.map(([key, value]) => (
          <div key={key}>
            <dt title={key}>{spoken(key, labels)}</dt>
            <dd>
              <Value value={value} session={session} labels={labels} isText={isLiteral(key)} />
            </dd>
          </div>
        ))}
      </dl>
      {[entity["warnings"] ?? []].flat().map((warning) => (
        <p class="quiet" key={String(warning)}>
          {plain(String(warning))}
        </p>
      ))}
      <Languages entity={entity} session={session} />
      <h3>{session.canTraverse ? "Relations" : "Relations in this file"}</h3>
      <ul class="relations">
        {Object.entries(entity.edges ?? {}).map(([key, [count, ...others]]) => {
          const isIncoming = key.startsWith("^");
          const [predicate, name] = idAndName(isIncoming ? key.slice(1) : key);
          return (
            <li key={key}>
              {session.canTraverse ? (
                <button
                  type="button"
                  class="small"
                  aria-label={`Show ${isIncoming ? "incoming" : "outgoing"} ${name === undefined ? spoken(predicate, labels) : plain(name)}`}
                  onClick={() => void session.expand(entity.id, predicate, isIncoming ? "incoming" : "outgoing")}
                >
                  show
                </button>
              ) : null}{" "}
              {isIncoming ? "← " : "→ "}
              <strong title={predicate}>{name !== undefined ? plain(name) : spoken(predicate, labels)}</strong> <span class="count">{count.toLocaleString("en")}</span>
              {(isIncoming ? undefined : membersOf(entity.id, predicate, session)) ?? <div class="quiet line">{others.map((text) => endName(text, session)).join(", ")}</div>}
            </li>
          );
        })}
      </ul>
      {entity.edge_rows_total !== undefined ? <p class="quiet">{entity.edge_rows_total} relations in all.</p> : null}
      {entity.iri !== undefined ? (
        <p class="quiet line">
          <Value value={entity.iri} session={session} />
        </p>
      ) : null}
    </>
  );
}

/** Whether what a record says under a key is text of literals: where a predicate leads to nodes, they stand among its relations. */
function isLiteral(key: string): boolean {
  return key.includes(":") || key === "synonyms";
}

/** What edges mean, and what is said of them. */
function EdgesRecord({ edges, session }: { edges: readonly PictureEdge[]; session: Session }) {
  return (
    <aside class="record" id="record" aria-label="Record">
      <h2>{edges.length === 1 ? "1 edge" : `${edges.length} edges`}</h2>
      <ul class="evidence" data-testid="edge-record">
        {edges.map((edge) => (
          <EdgeEvidence edge={edge} session={session} key={edge.key} />
        ))}
      </ul>
      {edges.some((edge) => edge.metadata) ? null : <p class="quiet">{session.picture.value.lacksEvidence ? "The answer says no more of it; the graph may." : "The graph says no more of it."}</p>}
      <Omitted session={session} />
    </aside>
  );
}

/** What the picture, or else the record, calls a node. */
function nameOf(id: string, session: Session, entity?: Entity): string {
  const node = session.picture.value.nodes.get(id);
  if (node) return session.titleOf(node);
  return isBlank(id) && entity ? titleOf({ id, name: id, type: entity.entity_type, metadata: entity }, session.labels.value) : plain(id);
}

/** Members of a list that the picture has, each with its place; undefined where it has none of it. */
function membersOf(id: string, predicate: string, session: Session) {
  const edges = [...session.picture.value.edges.values()].filter((edge) => edge.subject === id && edge.predicate === predicate);
  const members = edges.flatMap((edge) => placesOf(edge).map((place) => ({ place, id: edge.object })));
  if (!members.length) return undefined;
  members.sort((one, other) => comparePlaces(one.place, other.place));
  return (
    <ol class="list-members">
      {members.slice(0, MOST_MEMBERS).map(({ place, id: member }, number) => (
        <li key={number} aria-label={`No. ${place.join(".")}`}>
          <span class="count">{place.join(".")}</span> <EndLink id={member} name={nameOf(member, session)} session={session} />
        </li>
      ))}
      {members.length > MOST_MEMBERS ? <li class="quiet">and {(members.length - MOST_MEMBERS).toLocaleString("en")} more in the picture</li> : null}
    </ol>
  );
}

/** The name of a node at the other end, as the answer, the picture or its ID has it. */
function endName(text: string, session: Session): string {
  const [id, name] = idAndName(text);
  return plain(name ?? session.nameOf(id) ?? spoken(id));
}

function EndLink({ id, name, session }: { id: string; name: string | undefined; session: Session }) {
  return (
    <button type="button" class="link" title={id} onClick={() => void session.describe(id)}>
      {plain(name ?? id)}
    </button>
  );
}

function EdgeEvidence({ edge, session }: { edge: PictureEdge; session: Session }) {
  const { assertions, ...said } = (edge.metadata ?? {}) as Json & { assertions?: Json[] };
  const denial = denialOf(edge.metadata);
  return (
    <li>
      <EndLink id={edge.subject} name={nameOf(edge.subject, session)} session={session} /> <em title={edge.predicate}>{session.spoken(edge.predicate)}</em>{" "}
      <EndLink id={edge.object} name={nameOf(edge.object, session)} session={session} />
      {denial ? <strong class="lack"> {denial}</strong> : null}
      {(assertions ?? [said]).map((each, place) => (
        <dl key={place}>
          {saidIn(each, (key) => session.spoken(key)).map(({ key, title, value, meaning }, number) => (
            <div key={number}>
              <dt title={key}>{title}</dt>
              <dd>
                <Value value={value} session={session} />
                {meaning ? <span class="quiet">: {meaning}</span> : null}
              </dd>
            </div>
          ))}
        </dl>
      ))}
    </li>
  );
}
