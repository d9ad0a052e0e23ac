/** The graph of a stack: pan, zoom, open groups, follow dependencies. */

import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { GraphCanvas, shortType, type Viewport } from "../graph/canvas";
import { BOX_HEIGHT, type LayoutInput, type LayoutOutput } from "../graph/layout";
import { type Graph, graphOf, related } from "../graph/model";
import { type Key, t } from "../i18n";
import { visible } from "../model/text";
import { criticalPath, operationsOf } from "../model/timeline";
import { address, setQuery } from "../router";
import { Empty, SIGNS } from "../widgets/basics";
import type { ViewProps } from "./stack";

/** Groups with at most so many members are open at first, if the stack is small. */
const OPEN_UP_TO = 8;
const SMALL_STACK = 60;
const [LEAST_SCALE, MOST_SCALE] = [0.01, 2.5];
const RELAYOUT_MS = 150;
const REST_MS = 150;

let worker: Worker | null = null;
let turn = 0;
const waiting = new Map<number, (output: LayoutOutput) => void>();

/** Compute a layout in the worker. */
export function layoutOf(graph: Graph): Promise<LayoutOutput> {
  if (!worker) {
    worker = new Worker(new URL("../graph/worker.ts", import.meta.url), { type: "module" });
    worker.onmessage = (message: MessageEvent<{ id: number; output: LayoutOutput }>) => {
      waiting.get(message.data.id)?.(message.data.output);
      waiting.delete(message.data.id);
    };
  }
  const index = new Map(graph.boxes.map((box, i) => [box.key, i]));
  const input: LayoutInput = {
    widths: graph.boxes.map((box) =>
      Math.min(240, Math.max(110, 44 + 7.2 * Math.max(box.label.length, shortType(box.type).length * 0.9))),
    ),
    arrows: graph.arrows,
    within: graph.boxes.map((box) => (box.within === null ? -1 : (index.get(box.within) ?? -1))),
  };
  const id = ++turn;
  worker.postMessage({ id, input });
  return new Promise((resolve) => waiting.set(id, resolve));
}

const showsCritical = signal(false);

export function GraphView({ live }: ViewProps): JSX.Element {
  const tree = live.tree;
  const version = live.version.value;
  const [open, setOpen] = useState<ReadonlySet<string>>(() => initiallyOpen(live));
  const graph = useMemo(() => graphOf(tree, open), [version, open]);
  const critical = useMemo(() => {
    const last = showsCritical.value ? operationsOf(live.events.value, live.address.id).at(-1) : undefined;
    return new Set(last ? criticalPath(last, tree, Date.now()) : []);
  }, [version, showsCritical.value]);
  const selected = address.value.query.get("resource");
  const failure = graph.boxes.find((box) => box.look === "failed" && !box.isOpen);
  const groups = graph.boxes.filter((box) => box.inside !== null);
  const toggle = useCallback((key: string) => {
    setOpen((before) => {
      const after = new Set(before);
      if (!after.delete(key)) after.add(key);
      return after;
    });
  }, []);
  useEffect(() => {
    // A link to a resource inside of a group opens the group.
    const resource = selected ? tree.resources.get(selected) : undefined;
    const above = resource
      ? tree
          .path(resource)
          .slice(0, -1)
          .map((each) => each.key)
      : [];
    if (above.some((key) => !open.has(key))) setOpen((before) => new Set([...before, ...above]));
  }, [selected, version]);
  if (tree.resources.size === 0) return <Empty title={t("graph.empty")} />;
  const openAll = (): void => {
    setOpen(new Set([...tree.resources.values()].filter((each) => each.nested).map((each) => each.key)));
  };
  return (
    <GraphCanvasView
      graph={graph}
      selected={selected}
      critical={critical}
      onSelect={(key) => setQuery({ resource: key })}
      onToggle={toggle}
      focus={selected ?? failure?.key ?? null}
    >
      {failure && (
        <button type="button" class="danger" onClick={() => setQuery({ resource: failure.key })}>
          {t("graph.failure")}
        </button>
      )}
      <label class="check">
        <input
          type="checkbox"
          checked={showsCritical.value}
          onChange={() => {
            showsCritical.value = !showsCritical.value;
          }}
        />
        {t("graph.critical")}
      </label>
      {groups.length > 0 && (
        <button type="button" onClick={open.size ? () => setOpen(new Set()) : openAll}>
          {t(open.size ? "graph.closeAll" : "graph.openAll")}
        </button>
      )}
    </GraphCanvasView>
  );
}

function initiallyOpen(live: ViewProps["live"]): ReadonlySet<string> {
  const all = [...live.tree.resources.values()];
  if (all.length > SMALL_STACK) return new Set();
  const isSmall = (id: string): boolean => live.tree.of(id).length <= OPEN_UP_TO;
  return new Set(all.filter((each) => each.nested && isSmall(each.nested.id)).map((each) => each.key));
}

interface CanvasProps {
  graph: Graph;
  selected: string | null;
  critical?: ReadonlySet<string>;
  onSelect: (key: string | null) => void;
  onToggle: (key: string) => void;
  /** In place of the legend of statuses. */
  legend?: JSX.Element;
  /** The box that is brought into view when it changes. */
  focus?: string | null;
  children?: JSX.Element | (JSX.Element | null | undefined | false | "")[] | null;
}

const NOTHING: ReadonlySet<string> = new Set();

export function GraphCanvasView(props: CanvasProps): JSX.Element {
  const { graph, selected, critical = NOTHING } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const holder = useRef<HTMLDivElement>(null);
  const view = useRef<Viewport>({ x: 0, y: 0, scale: 1 });
  const picture = useRef<GraphCanvas | null>(null);
  const isPlaced = useRef(false);
  const frame = useRef(0);
  const [hint, setHint] = useState("");
  const chain = useMemo(() => (selected ? related(graph, selected) : null), [graph, selected]);
  const emphasis = useRef({ selected, related: chain, critical });
  const rest = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  emphasis.current = { selected, related: chain && chain.size > 0 ? chain : null, critical };

  const paint = useCallback((isMoving: boolean) => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      const context = canvas.current?.getContext("2d");
      if (!context || !picture.current || !canvas.current) return;
      const style = getComputedStyle(canvas.current);
      picture.current.draw(context, view.current, { ...emphasis.current, isMoving }, style);
      canvas.current.dataset.frame = String(Number(canvas.current.dataset.frame ?? 0) + 1);
    });
  }, []);
  const draw = useCallback(() => paint(false), [paint]);
  const move = useCallback(() => {
    paint(true);
    clearTimeout(rest.current);
    rest.current = setTimeout(draw, REST_MS);
  }, [paint, draw]);

  const showAll = useCallback(() => {
    const box = holder.current?.getBoundingClientRect();
    const places = picture.current?.places;
    if (!box || !places) return;
    const scale = Math.min(
      1.1,
      (box.width - 40) / Math.max(1, places.totalWidth),
      (box.height - 40) / Math.max(1, places.totalHeight),
    );
    view.current.scale = Math.max(LEAST_SCALE, scale);
    view.current.x = (places.totalWidth - box.width / view.current.scale) / 2;
    view.current.y = (places.totalHeight - box.height / view.current.scale) / 2;
    draw();
  }, [draw]);

  const show = useCallback(
    (key: string) => {
      const box = holder.current?.getBoundingClientRect();
      const at = picture.current?.indices.get(key);
      if (!box || at === undefined || !picture.current) return;
      const { x, y, width, height } = picture.current.places;
      view.current.scale = Math.max(view.current.scale, 0.8);
      view.current.x = (x[at] ?? 0) + (width[at] ?? 0) / 2 - box.width / view.current.scale / 2;
      view.current.y =
        (y[at] ?? 0) + Math.min(height[at] ?? 0, 200) / 2 - box.height / view.current.scale / 2;
      draw();
    },
    [draw],
  );

  const shape = useMemo(
    () => graph.boxes.map((box) => `${box.key}${box.isOpen}`).join() + graph.arrows.length,
    [graph],
  );
  useEffect(() => {
    let isCurrent = true;
    const timer = setTimeout(
      () => {
        void layoutOf(graph).then((places) => {
          if (!isCurrent) return;
          picture.current = new GraphCanvas(graph, places);
          if (canvas.current) canvas.current.dataset.boxes = String(graph.boxes.length);
          if (!isPlaced.current) showAll();
          isPlaced.current = true;
          if (props.focus && selected) show(props.focus);
          draw();
        });
      },
      isPlaced.current ? RELAYOUT_MS : 0,
    );
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [shape]);
  useEffect(() => {
    // Statuses change more often than the shape: the places stay.
    if (picture.current && picture.current.graph.boxes.length === graph.boxes.length) {
      picture.current = new GraphCanvas(graph, picture.current.places);
    }
    draw();
  }, [graph, selected, critical]);
  useEffect(() => {
    if (props.focus && selected && isPlaced.current) show(props.focus);
  }, [props.focus]);

  useEffect(() => {
    const element = holder.current;
    if (!element) return;
    const resize = (): void => {
      if (!canvas.current) return;
      const { width, height } = element.getBoundingClientRect();
      canvas.current.width = Math.round(width * devicePixelRatio);
      canvas.current.height = Math.round(height * devicePixelRatio);
      draw();
    };
    resize();
    const observer = new ResizeObserver(resize);
    observer.observe(element);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", draw);
    const themes = new MutationObserver(draw);
    themes.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => {
      observer.disconnect();
      themes.disconnect();
      scheme.removeEventListener("change", draw);
    };
  }, [draw]);

  const zoom = (factor: number, cx?: number, cy?: number): void => {
    const box = holder.current?.getBoundingClientRect();
    if (!box) return;
    const v = view.current;
    const [px, py] = [cx ?? box.width / 2, cy ?? box.height / 2];
    const scale = Math.min(MOST_SCALE, Math.max(LEAST_SCALE, v.scale * factor));
    v.x += px / v.scale - px / scale;
    v.y += py / v.scale - py / scale;
    v.scale = scale;
    move();
  };
  const boxAt = (event: { clientX: number; clientY: number }): number => {
    const box = holder.current?.getBoundingClientRect();
    if (!box || !picture.current) return -1;
    const v = view.current;
    return picture.current.at(
      v.x + (event.clientX - box.left) / v.scale,
      v.y + (event.clientY - box.top) / v.scale,
    );
  };
  useEffect(() => {
    const element = holder.current;
    if (!element) return;
    const wheel = (event: WheelEvent): void => {
      event.preventDefault();
      const box = element.getBoundingClientRect();
      if (event.ctrlKey || Math.abs(event.deltaY) > Math.abs(event.deltaX)) {
        zoom(Math.exp(-event.deltaY / 400), event.clientX - box.left, event.clientY - box.top);
      } else {
        view.current.x += event.deltaX / view.current.scale;
        move();
      }
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, []);

  const drag = useRef<{ x: number; y: number; hasMoved: boolean } | null>(null);
  const onPointer = (event: PointerEvent): void => {
    if (event.type === "pointerdown") {
      drag.current = { x: event.clientX, y: event.clientY, hasMoved: false };
      canvas.current?.setPointerCapture(event.pointerId);
    } else if (event.type === "pointermove" && drag.current) {
      const [dx, dy] = [event.clientX - drag.current.x, event.clientY - drag.current.y];
      if (Math.abs(dx) + Math.abs(dy) > 3 || drag.current.hasMoved) {
        drag.current = { x: event.clientX, y: event.clientY, hasMoved: true };
        view.current.x -= dx / view.current.scale;
        view.current.y -= dy / view.current.scale;
        move();
      }
    } else if (event.type === "pointermove") {
      const box = graph.boxes[boxAt(event)];
      setHint(box ? `${box.label} · ${box.type} · ${box.status}${box.reason ? ` · ${box.reason}` : ""}` : "");
    } else if (event.type === "pointerup" && drag.current) {
      const wasClick = !drag.current.hasMoved;
      drag.current = null;
      if (wasClick) props.onSelect(graph.boxes[boxAt(event)]?.key ?? null);
    }
  };
  const onKey = (event: KeyboardEvent): void => {
    const move: Record<string, [number, number]> = {
      ArrowLeft: [-1, 0],
      ArrowRight: [1, 0],
      ArrowUp: [0, -1],
      ArrowDown: [0, 1],
    };
    const step = move[event.key];
    if (step) {
      const next = neighbour(picture.current, selected, step);
      if (next) {
        props.onSelect(next);
        show(next);
      }
    } else if (event.key === "Enter" && selected) {
      if (graph.boxes.find((each) => each.key === selected)?.inside) props.onToggle(selected);
    } else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") showAll();
    else if (event.key === "Escape") props.onSelect(null);
    else return;
    event.preventDefault();
  };
  const current = graph.boxes.find((box) => box.key === selected);
  return (
    <div class="graph">
      <div class="toolbar">
        {props.children}
        <span class="grow" />
        {props.legend ?? <Legend />}
        <button
          type="button"
          aria-label={t("graph.zoomOut")}
          title={t("graph.zoomOut")}
          onClick={() => zoom(0.8)}
        >
          −
        </button>
        <button
          type="button"
          aria-label={t("graph.zoomIn")}
          title={t("graph.zoomIn")}
          onClick={() => zoom(1.25)}
        >
          +
        </button>
        <button type="button" onClick={showAll}>
          {t("graph.fit")}
        </button>
      </div>
      <div class="canvas" ref={holder}>
        <canvas
          ref={canvas}
          role="application"
          aria-label={t("graph.label", { n: graph.boxes.length })}
          aria-describedby="graph-help"
          tabIndex={0}
          onKeyDown={onKey}
          onPointerDown={onPointer}
          onPointerMove={onPointer}
          onPointerUp={onPointer}
          onDblClick={(event) => {
            const box = graph.boxes[boxAt(event)];
            if (box?.inside) props.onToggle(box.key);
          }}
        />
        <p id="graph-help" class="hidden">
          {t("graph.help")}
        </p>
        <p class="hidden" role="status">
          {current ? `${current.label}, ${current.type}, ${current.status}` : ""}
        </p>
        {hint && <p class="graph-hint">{visible(hint).slice(0, 300)}</p>}
      </div>
    </div>
  );
}

/** Return the nearest box in a direction; the first box if none is selected. */
function neighbour(
  picture: GraphCanvas | null,
  selected: string | null,
  [dx, dy]: [number, number],
): string | null {
  if (!picture) return null;
  const { boxes } = picture.graph;
  const { x, y, width } = picture.places;
  const from = selected === null ? undefined : picture.indices.get(selected);
  if (from === undefined) return boxes[0]?.key ?? null;
  const centre = (i: number): [number, number] => [
    (x[i] ?? 0) + (width[i] ?? 0) / 2,
    (y[i] ?? 0) + BOX_HEIGHT / 2,
  ];
  const [fx, fy] = centre(from);
  let best: { key: string; distance: number } | null = null;
  boxes.forEach((box, i) => {
    const [cx, cy] = centre(i);
    const along = (cx - fx) * dx + (cy - fy) * dy;
    const across = Math.abs((cx - fx) * dy) + Math.abs((cy - fy) * dx);
    if (i === from || along <= 1 || box.isOpen) return;
    const distance = along + 3 * across;
    if (!best || distance < best.distance) best = { key: box.key, distance };
  });
  return (best as { key: string } | null)?.key ?? null;
}

function Legend(): JSX.Element {
  const looks = ["done", "working", "failed", "waiting", "idle"] as const;
  return (
    <ul class="legend" aria-label={t("graph.legend")}>
      {looks.map((look) => (
        <li key={look} class={`status ${look}`}>
          <span class="sign" aria-hidden="true">
            {SIGNS[look]}
          </span>
          {t(`status.${look}` as Key)}
        </li>
      ))}
    </ul>
  );
}
