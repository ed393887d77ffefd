import { useEffect, useRef, useState } from "preact/hooks";
import type { Hit, Hits } from "./answers";
import { plain } from "./names";
import type { Session } from "./session";

const PAUSE_MILLISECONDS = 200;
const LEAST_CHARACTERS = 2;

/** Searches while somebody types (ARIA's combobox pattern). */
export function SearchBox({ session }: { session: Session }) {
  const [query, setQuery] = useState("");
  const [hits, setHits] = useState<Hits | undefined>(undefined);
  const [active, setActive] = useState(0);
  const wanted = useRef<AbortController | undefined>(undefined);
  useEffect(() => {
    wanted.current?.abort();
    if (query.trim().length < LEAST_CHARACTERS) {
      setHits(undefined);
      return;
    }
    const controller = new AbortController();
    wanted.current = controller;
    const timer = setTimeout(() => {
      void session.search(query, controller.signal).then((found) => {
        if (controller.signal.aborted) return;
        setHits(found);
        setActive(0);
      });
    }, PAUSE_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [query, session]);
  const more = async (offset: number): Promise<void> => {
    const controller = new AbortController();
    wanted.current?.abort();
    wanted.current = controller;
    const found = await session.search(query, controller.signal, offset);
    if (!found || !hits || controller.signal.aborted) return;
    const { next_offset: _, ...before } = hits;
    const known = new Set(hits.result.map(({ id }) => id));
    setHits({ ...before, ...found, result: [...hits.result, ...found.result.filter(({ id }) => !known.has(id))], complete: hits.complete && found.complete });
    setActive(hits.result.length);
    document.getElementById("search")?.focus();
  };
  const listed = hits ? [...hits.result, ...(hits.guesses ?? []), ...(hits.by_meaning ?? [])] : [];
  const guessesEnd = (hits?.result.length ?? 0) + (hits?.guesses?.length ?? 0);
  const choose = (hit: Hit | undefined): void => {
    if (!hit) return;
    setHits(undefined);
    setQuery("");
    void session.start(hit.id);
  };
  const onKey = (event: KeyboardEvent): void => {
    const steps: Partial<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined && listed.length) {
      event.preventDefault();
      setActive((active + step + listed.length) % listed.length);
    } else if (event.key === "Enter") choose(listed[active]);
    else if (event.key === "Escape") setHits(undefined);
  };
  return (
    <div class="search">
      <input
        id="search"
        type="text"
        role="combobox"
        aria-label="Search by name"
        aria-expanded={hits !== undefined}
        aria-controls="hits"
        aria-autocomplete="list"
        aria-activedescendant={listed.length ? `hit-${active}` : undefined}
        placeholder="Search by name  ( / )"
        autocomplete="off"
        value={query}
        onInput={(event) => setQuery(event.currentTarget.value)}
        onKeyDown={onKey}
      />
      <p class="unseen" role="status" data-testid="found">
        {hits ? (listed.length ? `${listed.length} ${listed.length === 1 ? "entity" : "entities"} found${ofAll(hits)}${hits.complete ? "" : ", there may be more"}. ` : "No name fits") : ""}
      </p>
      <div class="hits" hidden={hits === undefined}>
        <ul id="hits" role="listbox" aria-label="Entities found">
          {listed.map((hit, place) => (
            <li
              key={hit.id}
              id={`hit-${place}`}
              role="option"
              aria-selected={place === active}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => choose(hit)}
            >
              <strong>{plain(hit.name ?? hit.id)}</strong> <span class="quiet">{session.spoken(hit.entity_type)}</span>
              {place >= (hits?.result.length ?? 0) ? <span class="quiet"> {place < guessesEnd ? "a guess" : "of near meaning"}</span> : null}
              {hit.description ? <div class="quiet line">{plain(hit.description)}</div> : null}
            </li>
          ))}
        </ul>
        {hits?.next_offset !== undefined ? (
          <p>
            {hits.result.length.toLocaleString("en")}
            {ofAll(hits)}{" "}
            <button type="button" class="small" onClick={() => void more(hits.next_offset!)}>
              More
            </button>
          </p>
        ) : null}
        {hits && (hits.next_steps || !listed.length) ? <p class="quiet">{plain(hits.next_steps ?? "No name fits.")}</p> : null}
        {hits?.warnings?.map((warning) => (
          <p class="quiet" key={warning}>
            {plain(warning)}
          </p>
        ))}
        {hits && listed.length && !hits.complete ? <p class="lack">There may be more than these.</p> : null}
      </div>
    </div>
  );
}

/** Of how many hits these are a part. */
function ofAll({ found, next_offset }: Hits): string {
  return found === undefined ? (next_offset === undefined ? "" : ", and there are more") : ` of ${found.toLocaleString("en")}`;
}
