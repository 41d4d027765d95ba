import type { VirtualMesh } from "@isthmus/api";
import { describe, expect, it } from "vitest";
import { phaseTimes } from "../src/server/statuses/phaseTimes.ts";
import type { MeshPhase } from "../src/server/trust/trustPhases.ts";

const NAME = "istiod.gloo-mesh.";
const ref = { apiVersion: "networking.mesh.gloo.solo.io/v1", kind: "VirtualMesh", name: "vm", namespace: "gloo-mesh", clusterName: "" };
const ISSUED: MeshPhase = { state: "ISSUED", step: "TRUST_BOTH" };
const NOTHING: MeshPhase = { state: "PENDING", blockedBy: "the agent has reported nothing" };
const iso = (minute: number) => new Date(minute * 60_000).toISOString();

/** A server, which writes what it says; \`live\`: what stands there when it starts. */
function server(live?: VirtualMesh["status"]) {
  const times = phaseTimes();
  let written = live;
  return {
    get written() {
      return written;
    },
    /** Since when the mesh is in its phase, by the status that is written. */
    says(minute: number, phase: MeshPhase | undefined, isReported = true): string | undefined {
      const phases = { meshes: new Map([[NAME, phase]]), unreported: new Set(isReported ? [] : [NAME]), condition: {} as never };
      const status = times.withPhases({ ref, status: {} }, phases, { live: written, now: minute * 60_000 });
      written = status as VirtualMesh["status"];
      return written?.meshes?.[NAME]?.trust?.since;
    },
  };
}

describe("since when a mesh is in its phase", () => {
  it("is kept while the phase is the same, over a restart of the server", () => {
    const first = server();
    expect([first.says(1, ISSUED), first.says(2, ISSUED)]).toEqual([iso(1), iso(1)]);
    expect(server(first.written).says(3, ISSUED)).toBe(iso(1));
    expect(first.says(4, { ...ISSUED, step: "REPLACE" as never })).toBe(iso(4));
  });

  it("is kept while nothing is known after a start", () => {
    const first = server();
    first.says(1, ISSUED);
    const second = server(first.written);
    expect([second.says(2, undefined), second.says(3, ISSUED)]).toEqual([iso(1), iso(1)]);
  });

  it("is kept over a moment in which the agent reports nothing, which has a time of its own", () => {
    const first = server();
    first.says(1, ISSUED);
    for (const one of [first, server(first.written)]) {
      expect([one.says(2, NOTHING, false), one.says(3, NOTHING, false), one.says(4, ISSUED)]).toEqual([iso(2), iso(2), iso(1)]);
    }
  });

  it("is kept over a moment in which the server orders no step, as it has not read the root yet", () => {
    const first = server();
    first.says(1, ISSUED);
    for (const one of [first, server(first.written)]) {
      expect([one.says(2, { state: "PENDING" }), one.says(3, ISSUED)]).toEqual([iso(2), iso(1)]);
    }
  });

  it("begins again when a mesh has failed without a step", () => {
    const first = server();
    first.says(1, ISSUED);
    first.says(2, { state: "FAILED" });
    expect(first.says(3, ISSUED)).toBe(iso(3));
  });

  it("begins again when the same phase comes after another one that was reported", () => {
    const first = server();
    first.says(1, ISSUED);
    first.says(2, { state: "FINISHED" });
    first.says(3, NOTHING, false);
    expect(first.says(4, ISSUED)).toBe(iso(4));
  });
});
