/** A table that renders only the visible rows, so that 10,000 rows scroll smoothly. */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

export interface Column<Row> {
  title: string;
  /** A width for CSS grid, e.g. `minmax(8rem, 2fr)`. */
  width: string;
  cell: (row: Row) => ComponentChildren;
}

interface TableProps<Row> {
  label: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  keyOf: (row: Row) => string;
  selected?: string | null;
  onSelect?: (row: Row) => void;
  rowHeight?: number;
}

const BEYOND = 12;

export function Table<Row>(props: TableProps<Row>): JSX.Element {
  const { rows, columns, rowHeight = 36 } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const measure = (): void => setView({ top: element.scrollTop, height: element.clientHeight });
    measure();
    element.addEventListener("scroll", measure, { passive: true });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => {
      element.removeEventListener("scroll", measure);
      observer.disconnect();
    };
  }, []);
  const first = Math.max(0, Math.floor(view.top / rowHeight) - BEYOND);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / rowHeight) + BEYOND);
  const template = columns.map((column) => column.width).join(" ");
  const onKey = (event: KeyboardEvent): void => {
    const row = (event.target as Element).closest<HTMLElement>("[data-row]");
    if (!row) return;
    const at = Number(row.dataset.row);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (event.key === "Enter" && event.target === row) {
      const chosen = rows[at];
      if (chosen !== undefined) props.onSelect?.(chosen);
    }
    if (to === undefined || to < 0 || to >= rows.length) return;
    event.preventDefault();
    const element = scroller.current;
    if (!element) return;
    const [above, below] = [to * rowHeight, (to + 1) * rowHeight];
    if (above < element.scrollTop) element.scrollTop = above;
    if (below > element.scrollTop + element.clientHeight - rowHeight) {
      element.scrollTop = below - element.clientHeight + rowHeight;
    }
    requestAnimationFrame(() => {
      requestAnimationFrame(() => element.querySelector<HTMLElement>(`[data-row="${to}"]`)?.focus());
    });
  };
  return (
    <div
      class="table"
      role="table"
      aria-label={props.label}
      aria-rowcount={rows.length + 1}
      ref={scroller}
      onKeyDown={onKey}
    >
      <div class="head" role="row" tabIndex={-1} aria-rowindex={1} style={{ gridTemplateColumns: template }}>
        {columns.map((column) => (
          <span role="columnheader" tabIndex={-1} key={column.title}>
            {column.title}
          </span>
        ))}
      </div>
      <div role="rowgroup" class="body" style={{ height: `${rows.length * rowHeight}px` }}>
        {rows.slice(first, last).map((row, i) => {
          const at = first + i;
          const key = props.keyOf(row);
          return (
            <div
              role="row"
              key={key}
              data-row={at}
              tabIndex={0}
              aria-rowindex={at + 2}
              class={key === props.selected ? "row selected" : "row"}
              style={{ gridTemplateColumns: template, top: `${at * rowHeight}px`, height: `${rowHeight}px` }}
              onClick={() => props.onSelect?.(row)}
            >
              {columns.map((column) => (
                <span role="cell" key={column.title}>
                  {column.cell(row)}
                </span>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}
