import { expect, test } from "vitest";
import { withoutCommonFolder } from "../src/model/dropped";
import { environmentsIn, joined, sourcesOf, templatesIn } from "../src/model/sources";
import { lineOf } from "../src/views/template_lines";

const HEAD = "heat_template_version: 2021-04-16\n";
const FILES = new Map([
  [
    "app.yaml",
    `${HEAD}resources:\n  a: # first\n    type: lib/server.yaml\n    properties: {data: {get_file: setup.sh}}\n`,
  ],
  [
    "lib/server.yaml",
    `${HEAD}resources:\n  s: {type: "deep/volume.yaml", properties: {x: {get_file: ../setup.sh}}}\n`,
  ],
  ["lib/deep/volume.yaml", `${HEAD}resources: {}\n`],
  ["env/prod.yaml", "parameters: {size: 3}\nresource_registry:\n  My::Server: ../lib/server.yaml\n"],
  ["setup.sh", "#!/bin/sh\n"],
]);

test("the main template is the one that no other uses", () => {
  expect(templatesIn(FILES)[0]).toBe("app.yaml");
  expect(environmentsIn(FILES)).toEqual(["env/prod.yaml"]);
});

test("files have the names that templates use for them", () => {
  const sources = sourcesOf(FILES, "app.yaml", ["env/prod.yaml"]);
  expect(Object.keys(sources.files).sort()).toEqual([
    "env/prod.yaml",
    "lib/deep/volume.yaml",
    "lib/server.yaml",
    "setup.sh",
  ]);
  expect(sources.template).toBe(FILES.get("app.yaml"));
  expect(sources.files["lib/server.yaml"]).toContain('type: "lib/deep/volume.yaml"');
  expect(sources.files["lib/server.yaml"]).toContain('get_file: "setup.sh"');
  expect(sources.files["env/prod.yaml"]).toContain('My::Server: "lib/server.yaml"');
  expect(sources.missing).toEqual([]);
});

test("a main template in a folder finds files above it", () => {
  const files = new Map([
    ["stacks/app.yaml", `${HEAD}resources: {a: {type: T, properties: {x: {get_file: ../setup.sh}}}}\n`],
    ["setup.sh", "x"],
  ]);
  expect(sourcesOf(files, "stacks/app.yaml", []).files).toEqual({ "../setup.sh": "x" });
});

test("a file that is not there is named", () => {
  const files = new Map([
    ["app.yaml", `${HEAD}resources: {a: {type: T, properties: {x: {get_file: gone.sh}}}}\n`],
  ]);
  expect(sourcesOf(files, "app.yaml", []).missing).toEqual(["gone.sh"]);
});

test("templates that use each other are read once", () => {
  const files = new Map([
    ["a.yaml", `${HEAD}resources: {x: {type: b.yaml}}\n`],
    ["b.yaml", `${HEAD}resources: {x: {type: a.yaml}}\n`],
  ]);
  expect(Object.keys(sourcesOf(files, "a.yaml", []).files).sort()).toEqual(["a.yaml", "b.yaml"]);
});

test("broken YAML raises nothing", () => {
  const files = new Map([["a.yaml", `${HEAD}resources:\n  x: {type: [\n`]]);
  expect(sourcesOf(files, "a.yaml", []).template).toBe(files.get("a.yaml"));
});

test("paths are joined without dots", () => {
  expect([joined("a/b", "../c"), joined("", "./x"), joined("a", "../../y")]).toEqual(["a/c", "x", "../y"]);
});

test("a folder that contains everything is left out", () => {
  expect([
    ...withoutCommonFolder(
      new Map([
        ["d/a", ""],
        ["d/e/b", ""],
      ]),
    ).keys(),
  ]).toEqual(["a", "e/b"]);
  expect([
    ...withoutCommonFolder(
      new Map([
        ["a", ""],
        ["e/b", ""],
      ]),
    ).keys(),
  ]).toEqual(["a", "e/b"]);
});

test("the line of a resource is that of its key", () => {
  expect(lineOf(FILES.get("app.yaml")!, "a")).toBe(3);
  expect(lineOf(FILES.get("app.yaml")!, "type")).toBeNull();
  expect(lineOf("resources:\n  'x.y':\n    type: T\n  b: 1\n", "x.y")).toBe(2);
});
