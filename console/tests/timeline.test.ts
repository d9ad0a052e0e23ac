import { expect, test } from "vitest";
import { criticalPath, operationsOf, slower } from "../src/model/timeline";
import { StackTree } from "../src/model/tree";
import { event, ROOT, resource } from "./examples";

const CREATE = [
  event(0, "shop", "CREATE_IN_PROGRESS"),
  event(0, "a", "CREATE_IN_PROGRESS"),
  event(0, "fast", "CREATE_IN_PROGRESS"),
  event(1, "fast", "CREATE_COMPLETE"),
  event(5, "a", "CREATE_COMPLETE"),
  event(5, "b", "CREATE_IN_PROGRESS"),
  event(6, "b", "SIGNAL_COMPLETE"),
  event(9, "b", "CREATE_FAILED"),
  event(9, "shop", "CREATE_FAILED"),
];

function tree(): StackTree {
  const made = new StackTree(ROOT);
  made.load([resource("a", { requiredBy: ["b"] }), resource("fast", { requiredBy: ["b"] }), resource("b")]);
  return made;
}

test("each action of a resource is a bar from its start to its end", () => {
  const [operation] = operationsOf(CREATE, ROOT.id);
  expect(operation!.outcome).toBe("failed");
  expect(operation!.bars.map((bar) => [bar.name, bar.outcome, bar.end! - bar.start])).toEqual([
    ["a", "done", 5000],
    ["fast", "done", 1000],
    ["b", "failed", 4000],
  ]);
  expect(operation!.bars[2]!.notes).toHaveLength(1);
});

test("the critical path is the chain that decided the duration", () => {
  const [operation] = operationsOf(CREATE, ROOT.id);
  expect(criticalPath(operation!, tree(), Date.now())).toEqual(["root-id/a", "root-id/b"]);
});

test("an operation under way has no end", () => {
  const [operation] = operationsOf(CREATE.slice(0, 6), ROOT.id);
  expect(operation!.end).toBeUndefined();
  expect(operation!.bars.find((bar) => bar.name === "b")!.end).toBeUndefined();
});

test("a rollback is an operation of its own", () => {
  const events = [
    ...CREATE,
    event(10, "shop", "ROLLBACK_IN_PROGRESS"),
    event(11, "shop", "ROLLBACK_COMPLETE"),
  ];
  expect(operationsOf(events, ROOT.id).map((each) => each.action)).toEqual(["CREATE", "ROLLBACK"]);
});

test("operations are compared by resource", () => {
  const later = [
    event(20, "shop", "CREATE_IN_PROGRESS"),
    event(20, "a", "CREATE_IN_PROGRESS"),
    event(27, "a", "CREATE_COMPLETE"),
    event(27, "shop", "CREATE_COMPLETE"),
  ];
  const [first, second] = operationsOf([...CREATE, ...later], ROOT.id);
  expect(slower(second!, first!)).toEqual(new Map([["root-id/a", 2000]]));
});

test("events without the start of their operation are shown", () => {
  const [operation] = operationsOf(CREATE.slice(3), ROOT.id);
  expect(operation!.bars.map((bar) => bar.name)).toEqual(["b"]);
});
