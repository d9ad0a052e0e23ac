import { expect, test } from "vitest";
import { BOX_HEIGHT, type LayoutInput, layout } from "../src/graph/layout";

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 16807) % 2147483647;
    return state / 2147483647;
  };
}

function drawn(boxes: number, reach: number, seed = 1): LayoutInput {
  const next = random(seed);
  const arrows: [number, number][] = [];
  for (let i = 1; i < boxes; i++) {
    for (let k = 0; k < 2; k++) arrows.push([Math.max(0, i - 1 - Math.floor(next() * reach)), i]);
  }
  return { widths: Array(boxes).fill(120), arrows, within: Array(boxes).fill(-1) };
}

function overlaps(input: LayoutInput): number {
  const { x, y, width, height } = layout(input);
  let found = 0;
  for (let a = 0; a < input.widths.length; a++) {
    for (let b = 0; b < a; b++) {
      if (input.within[a] !== input.within[b]) continue;
      const apart =
        x[a]! + width[a]! <= x[b]! + 0.5 ||
        x[b]! + width[b]! <= x[a]! + 0.5 ||
        y[a]! + height[a]! <= y[b]! + 0.5 ||
        y[b]! + height[b]! <= y[a]! + 0.5;
      if (!apart) found++;
    }
  }
  return found;
}

test("boxes never overlap", () => {
  for (let seed = 1; seed < 12; seed++) expect(overlaps(drawn(60, 20, seed))).toBe(0);
});

test("arrows point down", () => {
  const input = drawn(300, 60);
  const { y } = layout(input);
  for (const [from, to] of input.arrows) expect(y[from]!).toBeLessThan(y[to]!);
});

test("a cycle is placed", () => {
  const input: LayoutInput = {
    widths: [100, 100, 100],
    arrows: [
      [0, 1],
      [1, 2],
      [2, 0],
    ],
    within: [-1, -1, -1],
  };
  expect(overlaps(input)).toBe(0);
});

test("members lie inside their open box", () => {
  const input: LayoutInput = { widths: [100, 80, 80, 100], arrows: [[0, 3]], within: [-1, 0, 0, -1] };
  const { x, y, width, height } = layout(input);
  for (const member of [1, 2]) {
    expect(x[member]!).toBeGreaterThanOrEqual(x[0]!);
    expect(x[member]! + 80).toBeLessThanOrEqual(x[0]! + width[0]!);
    expect(y[member]! + BOX_HEIGHT).toBeLessThanOrEqual(y[0]! + height[0]!);
  }
  expect(y[3]!).toBeGreaterThan(y[0]! + height[0]!);
});

test("10,000 boxes take less than three seconds", () => {
  const start = performance.now();
  layout(drawn(10_000, 400));
  layout(drawn(10_000, 10_000));
  expect(performance.now() - start).toBeLessThan(6000);
});
