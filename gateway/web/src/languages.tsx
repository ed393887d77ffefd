import type { Entity } from "./answers";
import type { Session } from "./session";

/** In which language names and texts are read: those in which this record has texts that it does not show. */
export function Languages({ entity, session }: { entity: Entity; session: Session }) {
  const others = Object.entries((entity["other_languages"] ?? {}) as Record<string, unknown>).filter(([tag]) => tag !== "");
  const now = session.language.value;
  if (!others.length && !now) return null;
  const tags = [...new Set([...(now ? [now] : []), ...others.map(([tag]) => tag)])].sort();
  return (
    <p>
      <label>
        Language{" "}
        <select value={now} disabled={!session.canTraverse} onChange={(event) => void session.speak(event.currentTarget.value)}>
          <option value="">of the graph</option>
          {tags.map((tag) => (
            <option key={tag} value={tag}>
              {nameOfLanguage(tag)}
            </option>
          ))}
        </select>
      </label>
      {others.length ? <span class="quiet"> not shown: {others.map(([tag, count]) => `${String(count)} in ${nameOfLanguage(tag)}`).join(", ")}</span> : null}
    </p>
  );
}

/** A language in English, where the browser knows its tag. */
function nameOfLanguage(tag: string): string {
  try {
    return new Intl.DisplayNames(["en"], { type: "language" }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}
