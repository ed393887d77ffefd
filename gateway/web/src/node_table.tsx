import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { type Json, idAndName } from "./answers";
import { type Asked, OPERATORS, type Operator, condition, nextSort, ofCall, ofType, predicateOf, walkOf, wantsValue } from "./asked";
import { AskedRows } from "./asked_rows";
import { conditionFor, isNode } from "./groups";
import { Menu } from "./menu";
import { plain } from "./names";
import { several } from "./picture";
import { textOf } from "./rows_table";
import type { Session } from "./session";
import { MOST_ROWS, VirtualRows } from "./virtual_rows";

/** What a node can be asked for. */
interface Choice {
  walk: string;
  title: string;
  /** Kinds of literals, and types at the other end; empty where they are not known. */
  kinds: string;
  /** What its values are like. */
  hint: string;
}

const LITERALS = /\b(number|date|boolean|text|language text|IRI|blank node)\b|…/;

/** A table of nodes, whose columns, conditions, order and groups are chosen. */
export function NodeTable({ session, asked }: { session: Session; asked: Asked }) {
  const key = JSON.stringify(asked);
  const read = useMemo(() => new AskedRows(asked, (call, signal) => session.ask(call, { signal, quietly: true, text: "Reading rows" })), [key]);
  useEffect(() => {
    void read.look(0, 1);
    return () => read.stop();
  }, [read]);
  const choices = useChoices(session, asked);
  const told = read.told.value;
  const change = (after: Partial<Asked>, dropped?: "sort" | "group"): void => {
    const { [dropped ?? "tool"]: _, ...kept } = asked;
    session.showTable({ ...(dropped ? kept : asked), ...after } as Asked);
  };
  const titled = (walk: string): string => choices.find((each) => each.walk === walk)?.title ?? titleOf(session, predicateOf(walk));
  return (
    <div class="node-table" data-testid="table">
      <div class="asked">
        <label>
          Nodes{" "}
          <Sets session={session} asked={asked} />
        </label>
        <Menu
          title="Add a column"
          items={choices.map(({ walk, title, kinds }) => ({ key: walk, text: `${title}${kinds ? `: ${kinds}` : ""}`, disabled: asked.values.includes(walk) }))}
          choose={(walk) => change({ values: [...asked.values, walk] }, "group")}
        />
        <label>
          Groups by{" "}
          <select
            aria-label="Groups by"
            value={asked.group ?? ""}
            onChange={(event) => {
              const { value } = event.currentTarget;
              if (value) change({ group: value });
              else change({}, "group");
            }}
          >
            <option value="">none</option>
            {choices.map((choice) => (
              <option key={choice.walk} value={choice.walk}>
                {choice.title}
              </option>
            ))}
          </select>
        </label>
        <Condition choices={choices} add={(added) => change({ where: [...new Set([...asked.where, added])] })} />
      </div>
      {asked.where.length ? (
        <ul class="tiles" aria-label="Conditions">
          {asked.where.map((each) => (
            <li key={each}>
              <button type="button" class="small" aria-label={`Drop the condition ${plain(each)}`} title="Drop it" onClick={() => change({ where: asked.where.filter((other) => other !== each) })}>
                {plain(each)} ×
              </button>
            </li>
          ))}
        </ul>
      ) : null}
      <p data-testid="told" role="status">
        {told ? countOf(told, asked) : ""}
      </p>
      {told?.notes.map((note) => (
        <p class="quiet" key={note}>
          {plain(note)}
        </p>
      ))}
      {asked.group === undefined ? (
        <Rows session={session} read={read} asked={asked} choices={choices} titled={titled} change={change} />
      ) : (
        <Bars read={read} choice={choices.find(({ walk }) => walk === asked.group)} titled={titled} pick={(added) => change({ where: [...new Set([...asked.where, added])] }, "group")} />
      )}
    </div>
  );
}

type Change = (after: Partial<Asked>, dropped?: "sort" | "group") => void;

function countOf({ count, found, complete }: { count: number; found: number | undefined; complete: boolean }, { group }: Asked): string {
  const counted = group === undefined ? several(count, "node") : `${several(count, "group")}${found === undefined ? "" : ` of ${several(found, "node")}`}`;
  const beyond = count > MOST_ROWS ? `; the first ${MOST_ROWS.toLocaleString("en")} can be scrolled to` : "";
  return complete ? `${counted}${beyond}` : `${counted} were read${beyond}: not complete, there may be others, and other values`;
}

/** Which nodes there can be a table of: those of the last answer, and those of a type. */
function Sets({ session, asked }: { session: Session; asked: Asked }) {
  const last = session.steps.value.at(-1)?.call;
  const sets = [...(last ? [[ofCall(last), "of the last answer"] as const] : []), ...(session.schema.value?.entity_types ?? []).map((type) => [ofType(type), session.spoken(type)] as const)];
  const own = JSON.stringify([asked.tool, asked.of]);
  const keys = sets.map(([set]) => JSON.stringify([set.tool, set.of]));
  return (
    <select aria-label="Which nodes" value={own} onChange={(event) => session.showTable(sets[keys.indexOf(event.currentTarget.value)]?.[0] ?? asked)}>
      {keys.includes(own) ? null : <option value={own}>of an earlier answer</option>}
      {sets.map(([, title], place) => (
        <option key={keys[place]} value={keys[place]}>
          {title}
        </option>
      ))}
    </select>
  );
}

function Condition({ choices, add }: { choices: readonly Choice[]; add: (condition: string) => void }) {
  const [walk, setWalk] = useState("name");
  const [operator, setOperator] = useState<Operator>("contains");
  const [value, setValue] = useState("");
  const all = [{ walk: "name", title: "name", kinds: "", hint: "" }, ...choices];
  const isReady = !wantsValue(operator) || value.trim() !== "";
  return (
    <form
      class="condition"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isReady) return;
        add(condition(walk, operator, value));
        setValue("");
      }}
    >
      <select aria-label="Condition on" value={walk} onChange={(event) => setWalk(event.currentTarget.value)}>
        {all.map((choice) => (
          <option key={choice.walk} value={choice.walk}>
            {choice.title}
          </option>
        ))}
      </select>
      <select aria-label="Operator" value={operator} onChange={(event) => setOperator(event.currentTarget.value as Operator)}>
        {OPERATORS.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
      {wantsValue(operator) ? (
        <input type="text" aria-label="Value" maxLength={500} placeholder={all.find((each) => each.walk === walk)?.hint ?? ""} value={value} onInput={(event) => setValue(event.currentTarget.value)} />
      ) : null}
      <button type="submit" class="small" disabled={!isReady}>
        Add condition
      </button>
    </form>
  );
}

interface RowsProps {
  session: Session;
  read: AskedRows;
  asked: Asked;
  choices: readonly Choice[];
  titled: (walk: string) => string;
  change: Change;
}

function Rows({ session, read, asked, choices, titled, change }: RowsProps) {
  const onView = useCallback((from: number, to: number) => void read.look(from, to), [read]);
  const rows = read.rows.value;
  const values = asked.values.length ? asked.values : ["type"];
  const sorted = (walk: string): "ascending" | "descending" | "none" => (asked.sort === walk ? "ascending" : asked.sort === `-${walk}` ? "descending" : "none");
  const head = ["name", ...values].map((walk) => (
    <th scope="col" key={walk} aria-sort={sorted(walk)} title={walk}>
      <button
        type="button"
        class="link"
        title="Order by this"
        onClick={() => {
          const sort = nextSort(walk, asked.sort);
          if (sort === undefined) change({}, "sort");
          else change({ sort });
        }}
      >
        {titled(walk)} {{ ascending: "▲", descending: "▼", none: "" }[sorted(walk)]}
      </button>
      {asked.values.includes(walk) ? (
        <button
          type="button"
          class="small"
          aria-label={`Drop the column ${titled(walk)}`}
          onClick={() => change({ values: asked.values.filter((other) => other !== walk) }, [walk, `-${walk}`].includes(asked.sort ?? "") ? "sort" : undefined)}
        >
          ×
        </button>
      ) : null}
    </th>
  ));
  const leadsToNodes = values.map((walk) => areNodes(choices.find((each) => each.walk === walk)));
  return (
    <VirtualRows
      label="Rows"
      testId="table-rows"
      head={head}
      columns={values.length + 1}
      count={read.told.value?.count ?? 0}
      onView={onView}
      row={(place) => {
        const row = rows.get(place);
        if (!row) return <td colSpan={values.length + 1}>…</td>;
        const [id, name] = idAndName(String(row[0]));
        return (
          <>
            <th scope="row" title={id}>
              {session.selected.value.includes(id) ? "● " : ""}
              <NodeLink id={id} name={name} session={session} />
            </th>
            {row.slice(1).map((cell, number) => (
              <td key={number} title={plain(textOf(cell))}>
                {leadsToNodes[number] && cell !== null
                  ? (Array.isArray(cell) ? cell : [cell]).map((each, among) => <NodeLink key={among} id={idAndName(String(each))[0]} name={idAndName(String(each))[1]} session={session} />)
                  : values[number] === "type"
                    ? [cell].flat().map((each) => session.spoken(idAndName(String(each))[0])).join(", ")
                    : plain(textOf(cell))}
              </td>
            ))}
          </>
        );
      }}
    />
  );
}

function NodeLink({ id, name, session }: { id: string; name: string | undefined; session: Session }) {
  if (id.startsWith("_:")) return <>{id} </>;
  return (
    <>
      <button type="button" class="link" title={id} onClick={() => void session.describe(id)}>
        {plain(name ?? session.spoken(id))}
      </button>{" "}
    </>
  );
}

/** Groups as bars, as long as their counts; a click shows the nodes of one. */
function Bars({ read, choice, titled, pick }: { read: AskedRows; choice: Choice | undefined; titled: (walk: string) => string; pick: (condition: string) => void }) {
  const { group = "" } = read.asked;
  const count = read.told.value?.count ?? 0;
  const rows = [...read.rows.value].sort(([one], [other]) => one - other).map(([, row]) => row);
  const inSeveral = rows.reduce((sum, [, size]) => sum + Number(size), 0) > (read.told.value?.found ?? Infinity);
  const largest = Math.max(1, ...rows.map(([, size]) => Number(size)));
  return (
    <div class="bars" data-testid="bars" tabIndex={0} role="region" aria-label={`Groups by ${titled(group)}`}>
      <ul>
        {rows.map(([value, size], place) => {
          const condition = conditionFor(group, value, areNodes(choice) || group === "type" ? undefined : (choice?.kinds ?? ""));
          const text = value === null ? "no value" : plain(areNodes(choice) || group === "type" || isNode(value, choice?.kinds ?? "") ? (idAndName(String(value))[1] ?? String(value)) : String(value));
          return (
            <li key={place}>
              {condition === undefined ? (
                <span class="text" title="No condition can be written for this value: it is cut, too long, or a blank node">
                  {text}
                </span>
              ) : (
                <button type="button" class="link text" title="Show these nodes" onClick={() => pick(condition)}>
                  {text}
                </button>
              )}
              <span class="track">
                <span class="bar" style={{ width: `${(100 * Number(size)) / largest}%` }} />
              </span>
              <span class="count">{Number(size).toLocaleString("en")}</span>
            </li>
          );
        })}
      </ul>
      {inSeveral ? <p class="quiet">A node with several values is in several groups.</p> : null}
      {rows.length < count ? (
        <button type="button" onClick={() => void read.look(rows.length, rows.length + 1)}>
          Show more of the {several(count, "group")}
        </button>
      ) : null}
    </div>
  );
}

/** Whether a walk leads to nodes alone. */
function areNodes(choice: Choice | undefined): boolean {
  return choice !== undefined && choice.kinds !== "" && !LITERALS.test(choice.kinds);
}

function titleOf(session: Session, predicate: string): string {
  return predicate.startsWith("^") ? `← ${session.spoken(predicate.slice(1))}` : session.spoken(predicate);
}

/** What can be asked: of one type what its nodes have, else what the graph has. */
function useChoices(session: Session, { tool, of }: Asked): readonly Choice[] {
  const type = tool === "search_entities" && Array.isArray(of["node_types"]) ? String(of["node_types"][0]) : undefined;
  const [shape, setShape] = useState<{ type: string; choices: readonly Choice[] } | undefined>(undefined);
  useEffect(() => {
    if (type === undefined || shape?.type === type) return;
    const controller = new AbortController();
    void session.ask({ tool: "describe_schema", arguments: { node_types: [type] } }, { signal: controller.signal, quietly: true, text: "Reading what nodes of this type have" }).then((answer) => {
      const [own] = Object.values((answer?.["shapes"] ?? {}) as Record<string, { predicates?: Json }>);
      if (own) setShape({ type, choices: Object.entries(own.predicates ?? {}).map(([text, row]) => choiceOf(session, text, row as unknown[])) });
    });
    return () => controller.abort();
  }, [type, session]);
  if (type !== undefined && shape?.type === type) return shape.choices;
  const { values = {}, predicates = [] } = (session.schema.value ?? {}) as { values?: Json; predicates?: string[] };
  return [
    { walk: "type", title: "type", kinds: "", hint: "" },
    ...Object.entries(values).map(([text, row]) => choiceOf(session, text, ["", "", ...(row as unknown[]).slice(1)])),
    ...predicates.flatMap((id) => [id, `^${id}`].map((each) => ({ walk: walkOf(each), title: titleOf(session, each), kinds: "", hint: "" }))),
  ];
}

/** Read a row of a shape: share, one or several, kinds, range or examples. */
function choiceOf(session: Session, text: string, [, , kinds, ...examples]: readonly unknown[]): Choice {
  const [id, name] = idAndName(text);
  const said = plain(String(kinds ?? ""));
  const isOfNodes = said !== "" && !LITERALS.test(said);
  return {
    walk: walkOf(id),
    title: name === undefined ? titleOf(session, id) : `${id.startsWith("^") ? "← " : ""}${plain(name)}`,
    kinds: isOfNodes ? said.split(", ").map((each) => session.spoken(idAndName(each)[0])).join(", ") : said,
    hint: plain(examples.map(String).join(", ")).slice(0, 60),
  };
}
