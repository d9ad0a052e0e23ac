import { expect, test } from "vitest";
import type { ChangedResource } from "../src/api/types";
import { addedIn, changesOf, countsOf } from "../src/model/plans";
import { parse, quantile } from "../src/model/prometheus";
import { difference } from "../src/views/plan";

const change = (name: string, step: number): ChangedResource =>
  ({ resource_name: name, step }) as ChangedResource;

test("changes are in the order in which they happen", () => {
  const changes = changesOf({
    added: [change("third", 3)],
    replaced: [change("first", 1)],
    updated: [],
    deleted: [change("fourth", 4)],
    unchanged: [change("same", 0)],
  });
  expect(changes.map((each) => each.path[0])).toEqual(["first", "third", "fourth", "same"]);
  expect(countsOf(changes)).toEqual({ added: 1, replaced: 1, updated: 0, deleted: 1, unchanged: 1 });
});

test("resources of nested lists are inside their parent", () => {
  const node = (name: string, parent?: string) => ({
    resource_name: name,
    resource_type: "T",
    required_by: [],
    properties: {},
    ...(parent ? { parent_resource: parent } : {}),
  });
  const found = addedIn([node("a"), [node("b", "a"), [node("c", "b")]]]);
  expect(found.map((each) => each.path)).toEqual([["a"], ["a", "b"], ["a", "b", "c"]]);
});

test("only the differing lines of long texts are shown", () => {
  const before = ["1", "2", "3", "old", "5", "6", "7"].join("\n");
  const after = ["1", "2", "3", "new", "5", "6", "7"].join("\n");
  expect(difference(before, after)!.map((line) => line.sign + line.text)).toEqual([
    " 2",
    " 3",
    "-old",
    "+new",
    " 5",
    " 6",
  ]);
  expect(difference("a", "b")).toBeNull();
});

test("samples of metrics have labels and values", () => {
  const text = '# HELP x y\ncalls_total{service="compute",status="200"} 4.0\nup 1\n';
  expect(parse(text)).toEqual([
    { name: "calls_total", labels: { service: "compute", status: "200" }, value: 4 },
    { name: "up", labels: {}, value: 1 },
  ]);
});

test("a quantile is the bound of its bucket", () => {
  const bucket = (le: string, value: number) => ({ name: "b", labels: { le }, value });
  const buckets = [bucket("0.1", 5), bucket("1.0", 9), bucket("+Inf", 10)];
  expect([quantile(buckets, 0.5), quantile(buckets, 0.9), quantile(buckets, 0.99)]).toEqual([
    0.1,
    1,
    Infinity,
  ]);
  expect(quantile([], 0.5)).toBeNull();
});
