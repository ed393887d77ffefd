import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

const ROW_PIXELS = 28;

/** Rows above and below those in view. */
const BEYOND = 6;

/** A browser draws nothing further down than this many rows. */
export const MOST_ROWS = 1_000_000;

interface Props {
  label: string;
  testId: string;
  /** The cells of the head. */
  head: ComponentChildren;
  /** How many columns it has. */
  columns: number;
  count: number;
  /** The cells of a row. */
  row: (place: number) => ComponentChildren;
  /** Told which rows are in view. */
  onView?: (from: number, to: number) => void;
}

/** A table of which the rows in view alone are drawn. */
export function VirtualRows({ label, testId, head, columns, count: all, row, onView }: Props) {
  const element = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(300);
  useEffect(() => {
    const observer = new ResizeObserver(() => setHeight(element.current?.clientHeight || 300));
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, []);
  const count = Math.min(all, MOST_ROWS);
  const from = Math.max(0, Math.min(Math.floor(top / ROW_PIXELS), count - 1) - BEYOND);
  const to = Math.min(count, Math.ceil((top + height) / ROW_PIXELS) + BEYOND);
  useEffect(() => onView?.(from, to), [from, to, onView]);
  const places = Array.from({ length: Math.max(0, to - from) }, (_, number) => from + number);
  return (
    <div class="rows" data-testid={testId} ref={element} tabIndex={0} role="region" aria-label={label} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
      <table aria-rowcount={count + 1} style={{ minWidth: `${columns * 9}rem` }}>
        <thead>
          <tr aria-rowindex={1}>{head}</tr>
        </thead>
        <tbody>
          {from ? <tr aria-hidden="true" style={{ height: `${from * ROW_PIXELS}px` }} /> : null}
          {places.map((place) => (
            <tr key={place} class="row" aria-rowindex={place + 2}>
              {row(place)}
            </tr>
          ))}
          {to < count ? <tr aria-hidden="true" style={{ height: `${(count - to) * ROW_PIXELS}px` }} /> : null}
        </tbody>
      </table>
    </div>
  );
}
