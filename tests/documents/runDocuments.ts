/** A document whose blocks a suite runs, from first to last, as a reader would. */
export interface RunDocument {
  readonly path: string;
  /**
   * What it starts from: a checkout alone; or also the kubectl contexts mgmt, east and west, the last two with Istio and Bookinfo; or mgmt, east and
   * gloo-mgmt, from which a Gloo Mesh manages east.
   */
  readonly setting: "checkout" | "clusters" | "gloo-mesh";
}

/** Those that `tests/real/docs` runs: each has a test file there. */
export const runDocuments: readonly RunDocument[] = [
  { path: "README.md", setting: "checkout" },
  { path: "docs/getting-started.md", setting: "clusters" },
  { path: "docs/registration.md", setting: "clusters" },
  { path: "docs/own-pki.md", setting: "clusters" },
  { path: "docs/observe-mode.md", setting: "clusters" },
  { path: "docs/migration-from-gloo-mesh.md", setting: "gloo-mesh" },
  { path: "docs/operations/replicas-and-redis.md", setting: "clusters" },
  { path: "docs/operations/monitoring.md", setting: "checkout" },
  { path: "docs/operations/pipelines.md", setting: "checkout" },
];
