import { expect, test } from "vitest";
import { contentOf } from "../src/model/dropped";
import { fieldsOf, withEntry } from "../src/model/parameter_entries";
import { documentsOf, EMPTY, type Source, textOf, withFiles, withText } from "../src/model/source_choice";

const HEAD = "heat_template_version: 2021-04-16\n";
const STORED: Source = {
  kind: "stored",
  text: `${HEAD}resources: {a: {type: lib/a.yaml, properties: {x: {get_file: template.yaml}}}}\n`,
  files: {
    "template.yaml": "mine",
    "lib/a.yaml": `${HEAD}resources: {b: {type: lib/sub/b.yaml}}\n`,
    "file:///x": "1",
  },
  isEdited: false,
};

test("stored files keep their names and contents", () => {
  const edited = withText(STORED, `${HEAD}resources: {}\n`);
  const { documents, missing } = documentsOf(edited);
  expect(documents.files).toEqual((STORED as { files: object }).files);
  expect(documents.template).toBe(textOf(edited));
  expect(missing).toEqual([]);
});

test("files without a template are added to those chosen before", () => {
  const chosen = withFiles(EMPTY, new Map([["app.yaml", `${HEAD}resources: {}\n`]]));
  const more = withFiles(
    chosen,
    new Map([
      ["env.yaml", "parameters: {a: 1}\n"],
      ["note.txt", "x"],
    ]),
  );
  expect(more.kind === "chosen" && [more.main, ...more.environments]).toEqual(["app.yaml", "env.yaml"]);
  expect(more.kind === "chosen" && [...more.files.keys()]).toEqual(["app.yaml", "env.yaml", "note.txt"]);
});

test("content that is no text is sent in Base64", () => {
  expect(contentOf(new Uint8Array([0x1f, 0x8b, 0x00, 0xff, 0xfe, 0x80]))).toBe("H4sA//6A\n");
  expect(contentOf(new TextEncoder().encode("grün\n"))).toBe("grün\n");
});

test("parameters that the template does not have are left out", () => {
  const schema = { Type: "String", Description: "", NoEcho: "false" };
  let entries = withEntry({}, "kept", { kind: "value", text: "" });
  entries = withEntry(entries, "gone", { kind: "value", text: "x" });
  entries = withEntry(entries, "reset", { kind: "default" });
  expect(fieldsOf(entries, { kept: schema, reset: schema })).toEqual({
    parameters: { kept: "" },
    clear_parameters: ["reset"],
  });
});
