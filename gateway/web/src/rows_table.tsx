import type { Session } from "./session";
import { VirtualRows } from "./virtual_rows";

/** The rows of the last answer, where values were asked for. */
export function RowsTable({ session }: { session: Session }) {
  const { rows, columns = [] } = session.steps.value.at(-1)?.answer ?? {};
  if (!rows?.length) return null;
  const head = (
    <>
      <th scope="col">Node</th>
      {columns.map((column, place) => (
        <th scope="col" key={place} title={column}>
          {session.spoken(column)}
        </th>
      ))}
    </>
  );
  return (
    <div class="below">
      <VirtualRows
        label="Values"
        testId="rows"
        head={head}
        columns={columns.length + 1}
        count={rows.length}
        row={(place) => {
          const [node, ...cells] = rows[place]!;
          return (
            <>
              <th scope="row" title={String(node)}>
                {String(node)}
              </th>
              {cells.map((cell, number) => (
                <td key={number} title={textOf(cell)}>
                  {textOf(cell)}
                </td>
              ))}
            </>
          );
        }}
      />
    </div>
  );
}

/** A cell in words; several values have commas between them. */
export function textOf(cell: unknown): string {
  if (Array.isArray(cell)) return cell.map(textOf).join(", ");
  return cell === null || cell === undefined ? "" : String(cell);
}
