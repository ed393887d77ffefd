import { type Entity, type Json, idAndName } from "./answers";
import { plain, spoken } from "./names";
import { denialOf, saidIn } from "./evidence";
import type { PictureEdge } from "./picture";
import type { Session } from "./session";

const APART = new Set(["id", "entity_type", "iri", "name", "description", "edges", "edge_rows_total", "edges_failed", "complete", "labels", "prefixes", "degraded", "warnings", "blank_node_edges"]);

/** The record of the selected node, or what can be done with several. */
export function Record({ session }: { session: Session }) {
  const selected = session.selected.value;
  const picture = session.picture.value;
  const [only] = selected;
  const chosen = session.edges.value.flatMap((key) => picture.edges.get(key) ?? []);
  if (chosen.length) return <EdgesRecord edges={chosen} session={session} />;
  if (only === undefined) {
    return (
      <aside class="record" aria-label="Record">
        <p class="quiet">{picture.nodes.size ? "" : "Choose an entity to begin with, or search for one. "}Select a node to read its record. Select several in the list to see what connects them.</p>
      </aside>
    );
  }
  if (selected.length > 1) {
    return (
      <aside class="record" aria-label="Record">
        <h2>{selected.length} nodes</h2>
        <ul>
          {selected.map((id) => (
            <li key={id}>{plain(picture.nodes.get(id)?.name ?? id)}</li>
          ))}
        </ul>
        {session.canTraverse ? (
          <button type="button" onClick={() => void session.intersect(selected)}>
            What is near all of them
          </button>
        ) : null}
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
    <aside class="record" aria-label="Record" aria-live="polite">
      <h2 data-testid="record-name">{plain(entity?.name ?? node?.name ?? only)}</h2>
      <p class="quiet">
        {typeName(session, entity?.entity_type ?? node?.type)} · <span title="ID">{only}</span>
      </p>
      {node ? (
        <p class="actions">
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
        </details>
      ) : null}
    </aside>
  );
}

function typeName(session: Session, type: string | undefined): string | undefined {
  return type === undefined ? undefined : session.spoken(type);
}

function EntityRecord({ entity, session }: { entity: Entity; session: Session }) {
  const labels = { ...session.labels.value, ...entity.labels };
  const shown = Object.entries(entity).filter(([key]) => !APART.has(key));
  const description = entity["description"];
  return (
    <>
      {typeof description === "string" ? <p>{plain(description)}</p> : null}
      {!entity.complete ? <p class="lack">This record is not complete{entity.edges_failed ? `: ${entity.edges_failed}` : ""}.</p> : null}
      <dl>
        {shown.map(([key, value]) => (
          <div key={key}>
            <dt title={key}>{spoken(key, labels)}</dt>
            <dd>
              <Value value={value} session={session} />
            </dd>
          </div>
        ))}
      </dl>
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
              <div class="quiet line">{others.map((text) => endName(text, session)).join(", ")}</div>
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

/** What edges mean, and what is said of them. */
function EdgesRecord({ edges, session }: { edges: readonly PictureEdge[]; session: Session }) {
  return (
    <aside class="record" aria-label="Record" aria-live="polite">
      <h2>{edges.length === 1 ? "1 edge" : `${edges.length} edges`}</h2>
      <ul class="evidence" data-testid="edge-record">
        {edges.map((edge) => (
          <EdgeEvidence edge={edge} session={session} key={edge.key} />
        ))}
      </ul>
      {edges.some((edge) => edge.metadata) ? null : <p class="quiet">The graph says no more of it.</p>}
    </aside>
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
  const { nodes } = session.picture.value;
  const { assertions, ...said } = (edge.metadata ?? {}) as Json & { assertions?: Json[] };
  const denial = denialOf(edge.metadata);
  return (
    <li>
      <EndLink id={edge.subject} name={nodes.get(edge.subject)?.name} session={session} /> <em title={edge.predicate}>{session.spoken(edge.predicate)}</em>{" "}
      <EndLink id={edge.object} name={nodes.get(edge.object)?.name} session={session} />
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

/** A value as text; an ID with a name leads to its record, and a web address tells the other side nothing of this page. */
function Value({ value, session }: { value: unknown; session: Session }) {
  if (Array.isArray(value)) {
    return (
      <>
        {value.map((each, place) => (
          <div key={place}>
            <Value value={each} session={session} />
          </div>
        ))}
      </>
    );
  }
  const name = typeof value === "string" ? session.nameOf(value) : undefined;
  if (typeof value === "string" && name !== undefined) {
    return (
      <button type="button" class="link" title={value} onClick={() => void session.describe(value)}>
        {plain(name)}
      </button>
    );
  }
  if (typeof value === "string" && /^https?:\/\/\S+$/.test(value)) {
    return (
      <a href={value} target="_blank" rel="noopener noreferrer">
        {value}
      </a>
    );
  }
  return <>{typeof value === "object" && value !== null ? JSON.stringify(value) : String(value)}</>;
}
