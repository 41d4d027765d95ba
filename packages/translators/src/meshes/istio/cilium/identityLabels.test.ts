import { describe, expect, it } from "vitest";
import { labelsWithoutIdentity } from "./identityLabels.ts";

const KEYS = [
  "app",
  "app-id",
  "tier",
  "app.kubernetes.io/name",
  "io.kubernetes.pod.namespace",
  "io.cilium.k8s.policy.cluster",
  "io.cilium.k8s.policy.serviceaccount",
  "example.com/team",
  "exampleXcom/team",
];

/** Of those the ones that the label filter of Cilium 1.20.2 (pkg/labelsfilter) keeps with each value of `labels`. */
const KEPT: readonly (readonly [string, readonly string[]])[] = [
  [
    "",
    [
      "app",
      "app-id",
      "tier",
      "app.kubernetes.io/name",
      "io.kubernetes.pod.namespace",
      "io.cilium.k8s.policy.cluster",
      "io.cilium.k8s.policy.serviceaccount",
      "example.com/team",
      "exampleXcom/team",
    ],
  ],
  [
    "app",
    [
      "app",
      "app-id",
      "app.kubernetes.io/name",
      "io.kubernetes.pod.namespace",
      "io.cilium.k8s.policy.cluster",
      "io.cilium.k8s.policy.serviceaccount",
    ],
  ],
  [
    "k8s:app reserved:.*",
    [
      "app",
      "app-id",
      "app.kubernetes.io/name",
      "io.kubernetes.pod.namespace",
      "io.cilium.k8s.policy.cluster",
      "io.cilium.k8s.policy.serviceaccount",
    ],
  ],
  [
    "k8s:!app",
    [
      "tier",
      "app.kubernetes.io/name",
      "io.kubernetes.pod.namespace",
      "io.cilium.k8s.policy.cluster",
      "io.cilium.k8s.policy.serviceaccount",
      "example.com/team",
      "exampleXcom/team",
    ],
  ],
  [
    "!app k8s:app-",
    [
      "app-id",
      "app.kubernetes.io/name",
      "io.kubernetes.pod.namespace",
      "io.cilium.k8s.policy.cluster",
      "io.cilium.k8s.policy.serviceaccount",
    ],
  ],
  [
    "app !app-",
    ["app", "app.kubernetes.io/name", "io.kubernetes.pod.namespace", "io.cilium.k8s.policy.cluster", "io.cilium.k8s.policy.serviceaccount"],
  ],
  [
    "reserved:.*",
    ["app.kubernetes.io/name", "io.kubernetes.pod.namespace", "io.cilium.k8s.policy.cluster", "io.cilium.k8s.policy.serviceaccount"],
  ],
  [
    "reserved:!.*",
    [
      "app",
      "app-id",
      "tier",
      "app.kubernetes.io/name",
      "io.kubernetes.pod.namespace",
      "io.cilium.k8s.policy.cluster",
      "io.cilium.k8s.policy.serviceaccount",
      "example.com/team",
      "exampleXcom/team",
    ],
  ],
  [
    "any:app",
    ["app.kubernetes.io/name", "io.kubernetes.pod.namespace", "io.cilium.k8s.policy.cluster", "io.cilium.k8s.policy.serviceaccount"],
  ],
  [
    "app=cart",
    ["app.kubernetes.io/name", "io.kubernetes.pod.namespace", "io.cilium.k8s.policy.cluster", "io.cilium.k8s.policy.serviceaccount"],
  ],
  [
    "example.com",
    [
      "app.kubernetes.io/name",
      "io.kubernetes.pod.namespace",
      "io.cilium.k8s.policy.cluster",
      "io.cilium.k8s.policy.serviceaccount",
      "example.com/team",
      "exampleXcom/team",
    ],
  ],
  [
    "example\\.com/team tier",
    [
      "tier",
      "app.kubernetes.io/name",
      "io.kubernetes.pod.namespace",
      "io.cilium.k8s.policy.cluster",
      "io.cilium.k8s.policy.serviceaccount",
      "example.com/team",
    ],
  ],
  [
    "!example\\.com example.com/team",
    [
      "app.kubernetes.io/name",
      "io.kubernetes.pod.namespace",
      "io.cilium.k8s.policy.cluster",
      "io.cilium.k8s.policy.serviceaccount",
      "example.com/team",
      "exampleXcom/team",
    ],
  ],
  [
    "k8s:!io\\.cilium\\.k8s\\.policy\\.serviceaccount",
    [
      "app",
      "app-id",
      "tier",
      "app.kubernetes.io/name",
      "io.kubernetes.pod.namespace",
      "io.cilium.k8s.policy.cluster",
      "example.com/team",
      "exampleXcom/team",
    ],
  ],
  [
    "!io\\.cilium",
    [
      "app",
      "app-id",
      "tier",
      "app.kubernetes.io/name",
      "io.kubernetes.pod.namespace",
      "io.cilium.k8s.policy.cluster",
      "io.cilium.k8s.policy.serviceaccount",
      "example.com/team",
      "exampleXcom/team",
    ],
  ],
  [
    "!io.cilium io.cilium.k8s.policy.serviceaccount",
    ["app.kubernetes.io/name", "io.kubernetes.pod.namespace", "io.cilium.k8s.policy.cluster", "io.cilium.k8s.policy.serviceaccount"],
  ],
  [
    "!app\\.kubernetes\\.io",
    [
      "app",
      "app-id",
      "tier",
      "io.kubernetes.pod.namespace",
      "io.cilium.k8s.policy.cluster",
      "io.cilium.k8s.policy.serviceaccount",
      "example.com/team",
      "exampleXcom/team",
    ],
  ],
  [
    "app !app\\.kubernetes\\.io/name",
    ["app", "app-id", "io.kubernetes.pod.namespace", "io.cilium.k8s.policy.cluster", "io.cilium.k8s.policy.serviceaccount"],
  ],
  [
    "!t !a",
    [
      "app.kubernetes.io/name",
      "io.kubernetes.pod.namespace",
      "io.cilium.k8s.policy.cluster",
      "io.cilium.k8s.policy.serviceaccount",
      "example.com/team",
      "exampleXcom/team",
    ],
  ],
];

describe("labels of ConfigMap cilium-config", () => {
  it.each(KEPT)("%s: what is part of identities is what Cilium keeps", (identityLabels, kept) => {
    const without = labelsWithoutIdentity(KEYS, { identityLabels, version: "1.20.2" });
    expect(KEYS.filter((key) => !without.includes(key))).toEqual(kept);
  });

  it.each([
    "k8s:(app|name)",
    "a.*",
    "^app",
    "app$",
    "app,name",
    "a\\d",
    "!",
    "k8s:",
    "!k8s:app",
    "[a]",
    "app\\",
    Array(101).fill("app").join(" "),
  ])("%s: is not understood, and claims nothing", (identityLabels) =>
    expect(labelsWithoutIdentity(KEYS, { identityLabels, version: "1.20.2" })).toBe("unclear"),
  );

  it("include the accounts and clusters of callers by themselves since Cilium 1.18 only", () => {
    const callers = ["io.cilium.k8s.policy.serviceaccount", "io.cilium.k8s.policy.cluster"];
    const withoutAt = (version: string) => labelsWithoutIdentity(callers, { identityLabels: "app", version });
    expect(["1.18.0", "1.20.2", "2.0.0"].map(withoutAt)).toEqual([[], [], []]);
    expect(["1.17.9", "", "sha256:12"].map(withoutAt)).toEqual([callers, callers, callers]);
    expect(labelsWithoutIdentity(callers, { version: "1.17.9" })).toEqual([]);
  });

  it("never make a label part of identities that Cilium leaves out by default", () => {
    const keys = ["pod-template-hash", "topology.kubernetes.io/zone", "k8s.io/x", "io.kubernetes.x"];
    for (const identityLabels of ["", "pod topology\\.kubernetes\\.io/zone k8s io"]) {
      expect(labelsWithoutIdentity(keys, { identityLabels, version: "1.20.2" })).toEqual(keys);
    }
  });
});
