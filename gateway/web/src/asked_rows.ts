/** The rows or groups of what a table asks, read where somebody looks. */

import { signal } from "@preact/signals";
import type { Json } from "./answers";
import { type Asked, callFor } from "./asked";
import type { Call } from "./tools";

export interface Told {
  /** How many rows there are, or groups. */
  count: number;
  columns: readonly string[];
  complete: boolean;
  /** Nodes that fulfil the conditions, in groups too. */
  found: number | undefined;
  /** What the answers say of themselves, in words. */
  notes: readonly string[];
}

/** What of an answer the table does not show as it is. */
function notesOf(answer: Json): string[] {
  const incomplete = (answer["incomplete"] ?? []) as { cause: string; detail?: string }[];
  return [
    ...incomplete.map(({ cause, detail }) => detail ?? cause),
    ...(answer["values_complete"] === false ? ["Some values are cut or could not be read."] : []),
    ...(answer["result_changed"] ? ["The graph has changed between two pages."] : []),
    ...((answer["warnings"] ?? []) as string[]),
  ];
}

export class AskedRows {
  readonly told = signal<Told | undefined>(undefined);
  /** By their places; those that nobody looked at are absent. */
  readonly rows = signal<ReadonlyMap<number, readonly unknown[]>>(new Map());
  private readonly controller = new AbortController();
  private snapshot: unknown;
  private isReading = false;
  private wanted: readonly [number, number] = [0, 1];

  constructor(
    readonly asked: Asked,
    private readonly ask: (call: Call, signal: AbortSignal) => Promise<Json | undefined>,
  ) {}

  /** Nobody looks any more. */
  stop(): void {
    this.controller.abort();
  }

  /** Read the rows from one place to another that were not read yet. */
  async look(from: number, to: number): Promise<void> {
    this.wanted = [from, to];
    if (this.isReading) return;
    this.isReading = true;
    for (let place = this.missing(); place !== undefined; place = this.missing()) {
      if (!(await this.read(place))) break;
    }
    this.isReading = false;
  }

  private missing(): number | undefined {
    const [from, to] = this.wanted;
    const end = Math.min(to, this.told.value?.count ?? 1);
    for (let place = from; place < end; place += 1) if (!this.rows.value.has(place)) return place;
    return undefined;
  }

  /** Return whether there were rows. */
  private async read(place: number): Promise<boolean> {
    const { tool, arguments: given } = callFor(this.asked, place);
    const answer = await this.ask({ tool, arguments: { ...given, ...(this.snapshot === undefined ? {} : { snapshot: this.snapshot }) } }, this.controller.signal);
    if (!answer || this.controller.signal.aborted) return false;
    this.snapshot = answer["snapshot"];
    const rows = (answer[this.asked.group === undefined ? "rows" : "groups"] ?? []) as unknown[][];
    const found = typeof answer["found"] === "number" ? answer["found"] : undefined;
    const counted = this.asked.group === undefined ? found : answer["group_count"];
    const columns = (answer[this.asked.group === undefined ? "columns" : "group_columns"] ?? []) as string[];
    this.rows.value = new Map([...this.rows.value, ...rows.map((row, number) => [place + number, row] as const)]);
    this.told.value = {
      count: typeof counted === "number" ? counted : place + rows.length,
      columns,
      found,
      complete: answer["complete"] === true && (this.told.value?.complete ?? true),
      notes: [...new Set([...(this.told.value?.notes ?? []), ...notesOf(answer)])],
    };
    return rows.length > 0;
  }
}
