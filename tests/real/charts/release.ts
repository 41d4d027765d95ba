import type { AnyResource } from "@isthmus/core";
import { expect } from "vitest";
import type { ApiServer } from "../harness/apiServer.ts";
import type { Components } from "../harness/components.ts";
import { type ChartName, type ChartValues, chartForAnyVersion, helm } from "../harness/helm.ts";

/** The namespace of every release, which the audit log of API servers follows. */
export const namespace = "gloo-mesh";

export interface ReleaseTarget {
  readonly components: Components;
  readonly server: Pick<ApiServer, "kubeconfig">;
  readonly directory: string;
}

/** Installs a chart or upgrades it, as operators do: `helm upgrade --install`. Fails with what Helm says. */
export async function release({ components, server, directory }: ReleaseTarget, chart: ChartName, values: ChartValues = {}): Promise<void> {
  const folder = chartForAnyVersion(chart, directory);
  // Nothing here runs pods. CRDs are waited for: what comes next creates resources of them.
  const wait = chart === "gloo-mesh-crds" ? ["--wait"] : [];
  const args = ["upgrade", "--install", chart, folder, `--namespace=${namespace}`, "--create-namespace", ...wait];
  const { code, stderr } = await helm({ components, server }, args, values);
  expect([code, stderr]).toEqual([0, ""]);
}

/** Upgrades a release as docs/operations/upgrade.md says: values that are not given stay as they are, new ones get their defaults. */
export async function upgrade({ components, server, directory }: ReleaseTarget, chart: ChartName, values: ChartValues = {}): Promise<void> {
  const folder = chartForAnyVersion(chart, directory);
  const args = ["upgrade", chart, folder, `--namespace=${namespace}`, "--reset-then-reuse-values"];
  const { code, stderr } = await helm({ components, server }, args, values);
  expect([code, stderr]).toEqual([0, ""]);
}

/** A Secret with these texts. */
export function secret(name: string, texts: Readonly<Record<string, string>>): AnyResource {
  const data = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]));
  return { apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, data } as AnyResource;
}
