/**
 * Draws a graph on a canvas: only what is visible, and only as much detail as can be read.
 * Boxes are found by position through a grid, so that hovering costs the same for any size.
 */

import type { Look } from "../model/statuses";
import { shortened } from "../model/text";
import { SIGNS } from "../widgets/basics";
import type { LayoutOutput } from "./layout";
import type { Graph } from "./model";

export interface Viewport {
  x: number;
  y: number;
  scale: number;
}

export interface Emphasis {
  selected: string | null;
  related: ReadonlySet<string> | null;
  critical: ReadonlySet<string>;
  /** Whether the view moves: thousands of arrows are then left out until it rests. */
  isMoving: boolean;
}

const TEXT_FROM = 0.45;
const ARROWS_FROM = 0.04;
const MOST_MOVING_ARROWS = 200;
/** More boxes than these are drawn without their types while the view moves. */
const MOST_MOVING_BOXES = 100;
/** Letters that fit into the widest box. */
const MOST_LETTERS = 28;
const CELL = 400;

export class GraphCanvas {
  private readonly cells = new Map<string, number[]>();
  readonly indices = new Map<string, number>();
  /** Start and end of each arrow: four numbers. */
  private readonly ends: Float32Array;

  constructor(
    readonly graph: Graph,
    readonly places: LayoutOutput,
  ) {
    const { x, y, width, height } = places;
    this.ends = Float32Array.from(
      graph.arrows.flatMap(([a, b]) => [
        (x[a] ?? 0) + (width[a] ?? 0) / 2,
        (y[a] ?? 0) + (height[a] ?? 0),
        (x[b] ?? 0) + (width[b] ?? 0) / 2,
        y[b] ?? 0,
      ]),
    );
    graph.boxes.forEach((box, i) => {
      this.indices.set(box.key, i);
      const [x, y] = [places.x[i] ?? 0, places.y[i] ?? 0];
      const [right, bottom] = [x + (places.width[i] ?? 0), y + (places.height[i] ?? 0)];
      for (let cx = Math.floor(x / CELL); cx <= right / CELL; cx++) {
        for (let cy = Math.floor(y / CELL); cy <= bottom / CELL; cy++) {
          const key = `${cx},${cy}`;
          const cell = this.cells.get(key);
          if (cell) cell.push(i);
          else this.cells.set(key, [i]);
        }
      }
    });
  }

  /** Return the index of the innermost box at a position of the graph, or -1. */
  at(x: number, y: number): number {
    let found = -1;
    for (const i of this.cells.get(`${Math.floor(x / CELL)},${Math.floor(y / CELL)}`) ?? []) {
      if (this.contains(i, x, y) && i > found) found = i;
    }
    return found;
  }

  private contains(i: number, x: number, y: number): boolean {
    const { places } = this;
    const [left, top] = [places.x[i] ?? 0, places.y[i] ?? 0];
    return x >= left && x <= left + (places.width[i] ?? 0) && y >= top && y <= top + (places.height[i] ?? 0);
  }

  draw(
    context: CanvasRenderingContext2D,
    view: Viewport,
    emphasis: Emphasis,
    style: CSSStyleDeclaration,
  ): void {
    const { canvas } = context;
    const ratio = devicePixelRatio;
    const [width, height] = [canvas.width / ratio, canvas.height / ratio];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.setTransform(
      ratio * view.scale,
      0,
      0,
      ratio * view.scale,
      -view.x * view.scale * ratio,
      -view.y * view.scale * ratio,
    );
    const area = {
      left: view.x,
      top: view.y,
      right: view.x + width / view.scale,
      bottom: view.y + height / view.scale,
    };
    const paint = new Paint(context, style, view.scale);
    this.drawOpenBoxes(paint, area);
    if (view.scale >= ARROWS_FROM) this.drawArrows(paint, area, emphasis);
    this.drawBoxes(paint, area, emphasis);
  }

  private isIn(i: number, area: Area): boolean {
    const { places } = this;
    const [x, y] = [places.x[i] ?? 0, places.y[i] ?? 0];
    return (
      x <= area.right &&
      y <= area.bottom &&
      x + (places.width[i] ?? 0) >= area.left &&
      y + (places.height[i] ?? 0) >= area.top
    );
  }

  private drawOpenBoxes(paint: Paint, area: Area): void {
    this.graph.boxes.forEach((box, i) => {
      if (box.isOpen && this.isIn(i, area)) paint.frame(this.rectangle(i), box.label);
    });
  }

  private rectangle(i: number): Rectangle {
    const { x, y, width, height } = this.places;
    return { x: x[i] ?? 0, y: y[i] ?? 0, width: width[i] ?? 0, height: height[i] ?? 0 };
  }

  private drawArrows(paint: Paint, area: Area, emphasis: Emphasis): void {
    const plain: number[] = [];
    const strong: number[] = [];
    const { boxes, arrows } = this.graph;
    const { ends } = this;
    for (let i = 0; i < arrows.length; i++) {
      const x1 = ends[4 * i] ?? 0;
      const y1 = ends[4 * i + 1] ?? 0;
      const x2 = ends[4 * i + 2] ?? 0;
      const y2 = ends[4 * i + 3] ?? 0;
      if (y2 < area.top || y1 > area.bottom) continue;
      if ((x1 < area.left && x2 < area.left) || (x1 > area.right && x2 > area.right)) continue;
      const [a, b] = arrows[i] as [number, number];
      (this.isStrong(boxes[a]?.key ?? "", boxes[b]?.key ?? "", emphasis) ? strong : plain).push(i);
      if (
        emphasis.isMoving &&
        plain.length > MOST_MOVING_ARROWS &&
        !emphasis.related &&
        emphasis.critical.size === 0
      ) {
        return;
      }
    }
    if (!emphasis.isMoving || plain.length <= MOST_MOVING_ARROWS) paint.lines(ends, plain, false);
    paint.lines(ends, strong, true);
  }

  private isStrong(from: string, to: string, { critical, related }: Emphasis): boolean {
    return (critical.has(from) && critical.has(to)) || (!!related?.has(from) && related.has(to));
  }

  private drawBoxes(paint: Paint, area: Area, emphasis: Emphasis): void {
    const { boxes } = this.graph;
    const shown: number[] = [];
    for (let i = 0; i < boxes.length; i++) if (!boxes[i]?.isOpen && this.isIn(i, area)) shown.push(i);
    const isPlain = emphasis.isMoving && shown.length > MOST_MOVING_BOXES;
    for (const i of shown) {
      const box = boxes[i];
      if (!box) continue;
      if (isPlain) {
        paint.plainBox(this.rectangle(i), box);
        continue;
      }
      paint.box(this.rectangle(i), box, {
        isSelected: box.key === emphasis.selected,
        isFaded: emphasis.related !== null && !emphasis.related.has(box.key),
        isCritical: emphasis.critical.has(box.key),
      });
    }
    const selected = emphasis.selected === null ? undefined : this.indices.get(emphasis.selected);
    if (selected !== undefined) paint.outline(this.rectangle(selected));
  }
}

interface Area {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

interface Rectangle {
  x: number;
  y: number;
  width: number;
  height: number;
}

class Paint {
  private readonly colors = new Map<string, string>();
  private readonly isReadable: boolean;

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly style: CSSStyleDeclaration,
    private readonly scale: number,
  ) {
    this.isReadable = scale >= TEXT_FROM;
  }

  private color(name: string): string {
    let found = this.colors.get(name);
    if (found === undefined) {
      found = this.style.getPropertyValue(name).trim();
      this.colors.set(name, found);
    }
    return found;
  }

  frame({ x, y, width, height }: Rectangle, label: string): void {
    const c = this.context;
    c.fillStyle = this.color("--group");
    c.strokeStyle = this.color("--line");
    c.lineWidth = 1 / this.scale;
    c.beginPath();
    c.roundRect(x, y, width, height, 8);
    c.fill();
    c.stroke();
    if (!this.isReadable) return;
    c.fillStyle = this.color("--text");
    c.font = "600 13px system-ui, sans-serif";
    c.fillText(`▾ ${label}`, x + 12, y + 25, width - 24);
  }

  lines(ends: Float32Array, chosen: readonly number[], isStrong: boolean): void {
    if (chosen.length === 0) return;
    const c = this.context;
    c.strokeStyle = this.color(isStrong ? "--accent" : "--arrow");
    c.lineWidth = (isStrong ? 2.2 : 1.2) / Math.max(this.scale, 0.5);
    c.beginPath();
    // Curves of thousands of arrows cost more than the picture gains.
    const isCurved = this.isReadable && chosen.length < 1500;
    for (const i of chosen) {
      const [x1, y1, x2, y2] = [
        ends[4 * i] ?? 0,
        ends[4 * i + 1] ?? 0,
        ends[4 * i + 2] ?? 0,
        ends[4 * i + 3] ?? 0,
      ];
      c.moveTo(x1, y1);
      if (isCurved) {
        const bend = (y2 - y1) / 2;
        c.bezierCurveTo(x1, y1 + bend, x2, y2 - bend, x2, y2);
      } else c.lineTo(x2, y2);
    }
    c.stroke();
    if (!this.isReadable) return;
    c.fillStyle = c.strokeStyle;
    c.beginPath();
    for (const i of chosen) {
      const [x, y] = [ends[4 * i + 2] ?? 0, ends[4 * i + 3] ?? 0];
      c.moveTo(x, y);
      c.lineTo(x - 4, y - 7);
      c.lineTo(x + 4, y - 7);
    }
    c.fill();
  }

  box(
    { x, y, width, height }: Rectangle,
    box: Graph["boxes"][number],
    marks: { isSelected: boolean; isFaded: boolean; isCritical: boolean },
  ): void {
    const c = this.context;
    const status = this.color(`--${box.look}`);
    c.globalAlpha = marks.isFaded ? 0.35 : 1;
    if (!this.isReadable) {
      c.fillStyle = status;
      c.fillRect(x, y, width, height);
      c.globalAlpha = 1;
      return;
    }
    if (box.inside) {
      c.fillStyle = this.color("--group");
      c.strokeStyle = this.color("--line");
      c.lineWidth = 1;
      c.beginPath();
      c.roundRect(x + 4, y + 4, width, height, 6);
      c.fill();
      c.stroke();
    }
    c.fillStyle = this.color("--surface");
    c.strokeStyle = marks.isCritical ? this.color("--accent") : this.color("--line");
    c.lineWidth = marks.isCritical ? 2 : 1;
    c.beginPath();
    c.roundRect(x, y, width, height, 6);
    c.fill();
    c.stroke();
    c.fillStyle = status;
    c.beginPath();
    c.roundRect(x, y, 22, height, [6, 0, 0, 6]);
    c.fill();
    c.fillStyle = this.color("--on-status");
    c.font = "700 12px system-ui, sans-serif";
    c.textAlign = "center";
    c.fillText(SIGNS[box.look], x + 11, y + height / 2 + 4);
    c.textAlign = "left";
    c.fillStyle = this.color("--text");
    c.font = "600 12px system-ui, sans-serif";
    c.fillText(shortened(box.label, MOST_LETTERS), x + 29, y + 18);
    c.fillStyle = this.color("--muted");
    c.font = "11px system-ui, sans-serif";
    c.fillText(
      shortened(box.inside ? insideText(box.inside) : shortType(box.type), MOST_LETTERS),
      x + 29,
      y + 34,
    );
    c.globalAlpha = 1;
  }

  /** A box that takes little time to draw. */
  plainBox({ x, y, width, height }: Rectangle, box: Graph["boxes"][number]): void {
    const c = this.context;
    if (this.isReadable) {
      c.fillStyle = this.color("--surface");
      c.fillRect(x + 22, y, width - 22, height);
    }
    c.fillStyle = this.color(`--${box.look}`);
    c.fillRect(x, y, this.isReadable ? 22 : width, height);
    if (!this.isReadable) return;
    c.fillStyle = this.color("--text");
    c.font = "600 12px system-ui, sans-serif";
    c.fillText(shortened(box.label, MOST_LETTERS), x + 29, y + 18);
  }

  outline({ x, y, width, height }: Rectangle): void {
    const c = this.context;
    c.strokeStyle = this.color("--focus");
    c.lineWidth = 3 / Math.min(1, this.scale);
    c.beginPath();
    c.roundRect(x - 3, y - 3, width + 6, height + 6, 8);
    c.stroke();
  }
}

function insideText(inside: Map<Look, number>): string {
  const total = [...inside.values()].reduce((sum, each) => sum + each, 0);
  const parts = [...inside].filter(([look]) => look !== "done").map(([look, n]) => `${SIGNS[look]} ${n}`);
  return `▸ ${total}${parts.length ? `  (${parts.join("  ")})` : ""}`;
}

/** Return a type without what all types of OpenStack begin with. */
export function shortType(type: string): string {
  return type.replace(/^OS::/, "").replace(/^.*\/([^/]+)$/, "$1");
}
