import { MAX_DEPTH, MAX_RESOURCE_BYTES } from "@isthmus/core";
import { describe, expect, it } from "vitest";
import { keptInsights } from "../src/replication/keptInsights.ts";

const REF = { apiVersion: "v1", kind: "Service", name: "a", namespace: "b", clusterName: "east" };
const INSIGHT = {
  code: "CFG1002",
  category: "CFG",
  severity: "info",
  object: REF,
  cluster: "east",
  field: "spec.ports[0].name",
  message: "m",
  remedy: { text: "r" },
};
const DATED = { insight: INSIGHT, since: 1_000 };
const METADATA = { name: "a", namespace: "b", clusterName: "east" };
const OBJECT = { apiVersion: "v1", kind: "Service", metadata: METADATA, insights: [DATED], problems: ["p"] };
const ENDED = { object: REF, code: "CFG1002", severity: "info", field: "", message: "m", since: 1, until: 2 };
const ENDED_KEY = "insights.isthmus.mesh/EndedInsight";

function read(kindKey: string, ...texts: readonly string[]) {
  return keptInsights(new Map([[kindKey, new Map(texts.map((text, i) => [`${i}.b.east`, text]))]]), { at: 1_000 });
}

const other = JSON.stringify({ ...OBJECT, metadata: { ...METADATA, name: "other" } });
const nested = `${"[".repeat(MAX_DEPTH)}${"]".repeat(MAX_DEPTH)}`;

describe("insights that a store holds", () => {
  it("are what a server wrote", () => {
    expect(read("/Service", JSON.stringify(OBJECT)).objects).toEqual([{ object: REF, insights: [DATED], problems: ["p"] }]);
    expect(read(ENDED_KEY, JSON.stringify({ ended: ENDED })).ended).toEqual([ENDED]);
  });

  it.each([
    ["null", "null"],
    ["a number", "7"],
    ["no JSON", '{"insights":'],
    ["no object", JSON.stringify({ ...OBJECT, metadata: null })],
    ["a name that is no text", JSON.stringify({ ...OBJECT, metadata: { ...METADATA, name: 7 } })],
    ["insights that are no list", JSON.stringify({ ...OBJECT, insights: { length: 1 } })],
    ["too deep", JSON.stringify(OBJECT).replace('"p"', nested)],
    ["too large", JSON.stringify({ ...OBJECT, more: "x".repeat(MAX_RESOURCE_BYTES) })],
  ])("are left out where a text is %s, and no others with it", (_, text) => {
    expect(read("/Service", text, other).objects.map(({ object }) => object.name)).toEqual(["other"]);
    expect(read(ENDED_KEY, text, JSON.stringify({ ended: ENDED })).ended).toEqual([ENDED]);
  });

  it.each([
    ["a time that no date has", { ...DATED, since: 9e99 }],
    ["a time before all", { ...DATED, since: -1 }],
    ["a suppression of another form", { ...DATED, suppression: "later" }],
    ["a suppression that ends at a number", { ...DATED, suppression: { reason: "r", by: "Settings", until: 7 } }],
    ["targets of another form", { ...DATED, insight: { ...INSIGHT, targets: [null] } }],
    ["a remedy of another form", { ...DATED, insight: { ...INSIGHT, remedy: null } }],
    ["a command of another form", { ...DATED, insight: { ...INSIGHT, remedy: { text: "r", command: ["rm"] } } }],
    ["nothing", null],
  ])("are left out one by one: with %s", (_, dated) => {
    const [object] = read("/Service", JSON.stringify({ ...OBJECT, insights: [dated, DATED] })).objects;
    expect(object?.insights).toEqual([DATED]);
  });

  it("are of a moment that can be printed, however it is written", () => {
    const at = (text: string) => keptInsights(new Map(), JSON.parse(`{"at":${text}}`)).at;
    expect(["1000", "1e400", "9e99", "-1", '"now"', "null"].map(at)).toEqual([1_000, 0, 0, 0, 0, 0]);
    const ended = JSON.stringify({ ended: ENDED }).replace('"until":2', '"until":1e400');
    expect(read(ENDED_KEY, ended).ended).toEqual([]);
  });

  it("are bounded for each object", () => {
    const many = Array.from({ length: 500 }, () => DATED);
    const [object] = read("/Service", JSON.stringify({ ...OBJECT, insights: many, problems: many.map(() => "p") })).objects;
    expect([object?.insights.length, object?.problems.length]).toEqual([50, 50]);
  });
});
