import fc from "fast-check";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { csvText } from "../../client/model/lines/csv.ts";
import { visibleText } from "../../client/model/lines/visibleText.ts";
import { yamlText } from "../../client/model/lines/yamlLines.ts";
import { objectPath, refOfParams } from "../../client/model/objectPath.ts";

it("writes any JSON as YAML that means the same", () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "grapheme", maxDepth: 4 }), (value) => {
      const json: unknown = JSON.parse(JSON.stringify(value));
      expect(parse(yamlText(json))).toEqual(json);
    }),
  );
});

it("quotes what YAML would read as something else", () => {
  const value = { a: ["true", "no", "1.5", "", "- x", "a: b", "#c", "\u202Eevil", "x\ny", "plain"], __proto__x: null };
  expect(parse(yamlText(value))).toEqual(value);
  expect(yamlText(value)).toContain('"\\u202eevil"');
});

it("shows what cannot be seen, and changes nothing else", () => {
  expect(visibleText("a\u202Eb\u200Bc\nd")).toBe("a\\u202eb\\u200bc\\u000ad");
  expect(visibleText("<script>äöü 🙂</script>")).toBe("<script>äöü 🙂</script>");
});

it("names each object in an address, and finds its name there", () => {
  const part = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }).filter((text) => text !== "_");
  fc.assert(
    fc.property(part, part, part, (name, namespace, clusterName) => {
      const ref = { apiVersion: "networking.istio.io/v1", kind: "VirtualService", name, namespace, clusterName };
      const [, , group = "", kind = "", cluster = "", ns = "", last = ""] = objectPath(ref).split("/").map(decodeURIComponent);
      expect(refOfParams({ group, kind, cluster, namespace: ns, name: last })).toEqual({ ...ref, apiVersion: "networking.istio.io/_" });
    }),
  );
});

it("exports rows that no spreadsheet computes", () => {
  expect(csvText([["=1+1", "a,b", 'say "hi"', "-x", "plain"]])).toBe('\'=1+1,"a,b","say ""hi""",\'-x,plain\r\n');
});
