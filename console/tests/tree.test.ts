import { expect, test } from "vitest";
import { graphOf, related } from "../src/graph/model";
import { StackTree } from "../src/model/tree";
import { event, ROOT, resource } from "./examples";

const GROUP = { name: "shop-group", id: "group-id" };

function tree(): StackTree {
  const made = new StackTree(ROOT);
  made.load([
    resource("network", { requiredBy: ["group"] }),
    resource("group", { nested: GROUP }),
    resource("0", { stack: GROUP, requiredBy: ["1"] }),
    resource("1", { stack: GROUP, status: "CREATE_FAILED" }),
  ]);
  return made;
}

test("resources of nested stacks know what contains them", () => {
  const made = tree();
  const member = made.resources.get("group-id/1")!;
  expect(made.path(member).map((each) => each.name)).toEqual(["group", "1"]);
  expect([...made.inside(made.resources.get("root-id/group")!)].map((each) => each.name)).toEqual(["0", "1"]);
});

test("an event changes the status of its resource only", () => {
  const made = tree();
  expect(made.apply(event(1, "0", "UPDATE_IN_PROGRESS", GROUP))).toBe(false);
  expect(made.resources.get("group-id/0")!.status).toBe("UPDATE_IN_PROGRESS");
  expect(made.resources.get("group-id/1")!.status).toBe("CREATE_FAILED");
});

test("events of unknown and of deleted resources ask for a new list", () => {
  const made = tree();
  expect(made.apply(event(1, "new", "CREATE_IN_PROGRESS"))).toBe(true);
  expect(made.apply(event(2, "network", "DELETE_COMPLETE"))).toBe(true);
  expect(made.apply(event(3, "unknown", "DELETE_COMPLETE"))).toBe(false);
});

test("a resource with the name of its stack is no event of the stack", () => {
  const made = new StackTree(ROOT);
  made.load([resource("shop")]);
  const own = { ...event(1, "shop", "CREATE_FAILED"), physicalId: "other", isOfStack: false };
  made.apply(own);
  expect(made.resources.get("root-id/shop")!.status).toBe("CREATE_FAILED");
});

test("a closed group is one box with counts, an open one shows its members", () => {
  const closed = graphOf(tree(), new Set());
  expect(closed.boxes.map((box) => box.label)).toEqual(["network", "group"]);
  expect(closed.boxes[1]!.inside).toEqual(
    new Map([
      ["done", 1],
      ["failed", 1],
    ]),
  );
  expect(closed.arrows).toEqual([[0, 1]]);
  const open = graphOf(tree(), new Set(["root-id/group"]));
  expect(open.boxes.map((box) => box.label)).toEqual(["network", "group", "0", "1"]);
  expect(open.boxes[3]!.within).toBe("root-id/group");
  expect(open.arrows).toEqual([
    [0, 1],
    [2, 3],
  ]);
});

test("related resources are those above and below, not beside", () => {
  const made = new StackTree(ROOT);
  made.load([
    resource("a", { requiredBy: ["b", "d"] }),
    resource("b", { requiredBy: ["c"] }),
    resource("c"),
    resource("d"),
  ]);
  expect(related(graphOf(made, new Set()), "root-id/b")).toEqual(
    new Set(["root-id/a", "root-id/b", "root-id/c"]),
  );
});
