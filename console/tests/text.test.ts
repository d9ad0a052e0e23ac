import { expect, test } from "vitest";
import { durationText, shortened, textOf, visible, withoutNulls } from "../src/model/text";

test("control and direction characters are shown as codes", () => {
  expect(visible("a\u0000b\u202ec\u001b[31m")).toBe("a\\u0000b\\u202ec\\u001b[31m");
});

test("line breaks and tabs stay", () => {
  expect(visible("a\n\tb")).toBe("a\n\tb");
});

test("long text keeps its start and its end", () => {
  const text = shortened(`start${"x".repeat(5000)}end`, 60);
  expect(text).toHaveLength(60);
  expect(text.startsWith("start") && text.endsWith("end")).toBe(true);
});

test("values that are no text become JSON", () => {
  expect(textOf({ a: [1] })).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(textOf(null)).toBe("");
});

test("nulls are left out at any depth", () => {
  expect(withoutNulls({ a: null, b: { c: null }, d: [{ e: null, f: 0 }], g: {} })).toEqual({
    d: [{ f: 0 }],
    g: {},
  });
});

test("durations have two units at most", () => {
  expect([durationText(300), durationText(12_400), durationText(61_000), durationText(3_700_000)]).toEqual([
    "0.3 s",
    "12 s",
    "1 min 1 s",
    "1 h 1 min",
  ]);
});
