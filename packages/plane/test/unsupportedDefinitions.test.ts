import { describe, expect, it } from "vitest";
import { unsupportedDefinitions } from "../src/informer/unsupportedDefinitions.ts";
import { recordingLog } from "./recordingLog.ts";

const definition = (group: string, kind: string, ...versions: readonly string[]) => ({
  spec: { group, names: { plural: `${kind.toLowerCase()}s`, kind }, versions: versions.map((name) => ({ name, served: true })) },
});

describe("CRDs of Gloo Mesh APIs that are not supported", () => {
  it("are named once each, with what to use instead", () => {
    const log = recordingLog();
    const tell = unsupportedDefinitions("east", log);
    const old = definition("networking.smh.solo.io", "TrafficPolicy", "v1alpha2");
    tell([old]);
    tell([old, definition("networking.mesh.gloo.solo.io", "TrafficPolicy", "v1alpha2")]);
    expect(log.warnings).toHaveLength(2);
    expect(log.warnings[0]).toMatch(
      /^east has CRDs of Gloo Mesh APIs that are not supported; objects of these kinds have no effect: networking.smh.solo.io\/v1alpha2 TrafficPolicy: ./,
    );
    expect(log.warnings[1]).toMatch(/have no effect: networking.mesh.gloo.solo.io\/v1alpha2 TrafficPolicy: .*v1/);
  });

  it("are at most thirty in a line, and the management cluster is called by its role", () => {
    const log = recordingLog();
    unsupportedDefinitions("", log)(Array.from({ length: 32 }, (_, i) => definition("networking.smh.solo.io", `Kind${i}`, "v1alpha2")));
    expect(log.warnings).toEqual([expect.stringMatching(/^the management cluster has CRDs .*Kind29: .*; and 2 more$/)]);
    expect(log.warnings[0]).not.toContain("Kind30");
  });

  it("are not those of other projects, of which a version is supported, or of which none is served", () => {
    const log = recordingLog();
    const unserved = definition("networking.smh.solo.io", "TrafficPolicy");
    unsupportedDefinitions(
      "east",
      log,
    )([
      definition("example.com", "Widget", "v1"),
      definition("networking.mesh.gloo.solo.io", "TrafficPolicy", "v1alpha2", "v1"),
      { spec: { ...unserved.spec, versions: [{ name: "v1alpha2", served: false }] } },
      {},
    ]);
    expect(log.warnings).toEqual([]);
  });
});
