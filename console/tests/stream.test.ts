import { expect, test } from "vitest";
import { MessageParser } from "../src/api/stream";

test("messages are found across chunks", () => {
  const parser = new MessageParser();
  expect(parser.push('id: 1\nevent: event\ndata: {"a"')).toEqual([]);
  expect(parser.push(": 1}\n\n:\n\nid: 2\nevent: end\ndata: x\n\n")).toEqual([
    { id: "1", event: "event", data: '{"a": 1}' },
    { id: "2", event: "end", data: "x" },
  ]);
});

test("comments are no messages", () => {
  expect(new MessageParser().push(":\n\n: still here\n\n")).toEqual([]);
});
