import type { Session } from "./session";

/** The rows of the last answer, where values were asked for. */
export function RowsTable({ session }: { session: Session }) {
  const { rows, columns = [] } = session.steps.value.at(-1)?.answer ?? {};
  if (!rows?.length) return null;
  return (
    <div class="rows" data-testid="rows" tabIndex={0} role="region" aria-label="Values">
      <table>
        <thead>
          <tr>
            <th scope="col">Node</th>
            {columns.map((column, place) => (
              <th scope="col" key={place} title={column}>
                {session.spoken(column)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([node, ...cells], place) => (
            <tr key={place}>
              <th scope="row">{String(node)}</th>
              {cells.map((cell, number) => (
                <td key={number}>{text(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function text(cell: unknown): string {
  if (Array.isArray(cell)) return cell.map(text).join(", ");
  return cell === null || cell === undefined ? "" : String(cell);
}
