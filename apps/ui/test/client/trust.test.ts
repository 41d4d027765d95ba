import type { ConsoleCertificate } from "@isthmus/console/wire";
import { expect, it } from "vitest";
import { firstToEnd } from "../../client/model/certificateRows.ts";
import { trustSentences } from "../../client/model/trustSentences.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const certificate = (name: string, days: number | undefined, state: string): ConsoleCertificate => ({
  kind: "meshRoot",
  cluster: "",
  name,
  state,
  virtualMesh: "gloo-mesh/bookinfo",
  ...(days === undefined ? {} : { notAfter: new Date(NOW + days * 86_400_000).toISOString() }),
});

it("what should have been replaced is looked at before what ends earlier and is renewed in time", () => {
  const [agent, root, ended] = [certificate("agent", 1, "VALID"), certificate("root", 45, "EXPIRING"), certificate("ended", -1, "EXPIRED")];
  const token = certificate("token", undefined, "NO_EXPIRY");
  expect(firstToEnd([token, root, agent], NOW)).toBe(root);
  expect(firstToEnd([root, ended, agent], NOW)).toBe(ended);
  expect(firstToEnd([certificate("later", 90, "VALID"), agent, token], NOW)).toBe(agent);
  const { virtualMesh: _, ...unused } = root;
  expect(firstToEnd([unused, token], NOW)).toBeUndefined();
});

it("what a mesh waits for is a sentence, and not said twice", () => {
  const trust = { waitsFor: [{ mesh: "istiod-east", offline: true }, { mesh: "istiod-west" }], blockedBy: "restart istiod" } as const;
  expect(trustSentences(trust)).toEqual(["Waits for istiod-east (agent offline), istiod-west", "Blocked by restart istiod"]);
  expect(trustSentences(trust, ["step REISSUE: restart istiod"])).toEqual(["Waits for istiod-east (agent offline), istiod-west"]);
  expect(trustSentences({ waitsFor: [{ mesh: "a" }, { mesh: "b" }] }, ["it waits for a, b; until then"])).toEqual([]);
  expect(trustSentences(undefined)).toEqual([]);
});
