import { execFileSync } from "node:child_process";
import { accessSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The real programs and files that the suites run against, as paths. */
export interface Components {
  readonly etcd: string;
  /** redis-server; redis-cli comes with it. */
  readonly redis: string;
  readonly kubeApiserver: string;
  readonly kubectl: string;
  readonly helm: string;
  /** Fills ServiceAccount token Secrets. */
  readonly tokenController: string;
  readonly istiod: string;
  /** What runs beside an Envoy and makes a proxy of the mesh of it. */
  readonly istioAgent: string;
  readonly istioctl: string;
  readonly envoy: string;
  /** Python packages of gRPC. */
  readonly grpcPython: string;
  /** Says what Cilium makes of policies, and has its CRDs. */
  readonly cilium: string;
  /** Runs a health script of Argo CD over objects. */
  readonly argocdHealth: string;
  /** Istio's source: its CRDs and samples. */
  readonly istio: string;
  /** Open Service Mesh's source: its CRDs. */
  readonly osm: string;
}

/** What lists of earlier installations lack. */
const ADDED_LATER: readonly (keyof Components)[] = ["redis", "grpcPython", "tokenController", "osm", "helm", "cilium", "argocdHealth"];
const realTests = fileURLToPath(new URL("..", import.meta.url));

/** What `tests/real/install.sh` installed, or why it can't be used. */
export function findComponents(): Components | { readonly missing: string } {
  const remedy = "run tests/real/install.sh";
  const cache = execFileSync(join(realTests, "cache.sh"), { encoding: "utf8" }).trim();
  const list = join(cache, "components.json");
  if (!existsSync(list)) return { missing: `the real components are not installed: ${remedy}` };
  const components = JSON.parse(readFileSync(list, "utf8")) as Components;
  if (ADDED_LATER.some((name) => components[name] === undefined)) return { missing: `the real components are of an older list: ${remedy}` };
  const lost = Object.values(components).filter((path) => !existsSync(path));
  if (lost.length > 0) return { missing: `${lost.join(", ")} is gone: ${remedy}` };
  accessSync(components.kubeApiserver);
  return components;
}

/** Istio's own CRDs, as one multi-document YAML. */
export function istioCrds({ istio }: Components): string {
  return readFileSync(join(istio, "manifests/charts/base/files/crd-all.gen.yaml"), "utf8");
}

/** Istio's own sample application. */
export function istioBookinfo({ istio }: Components): string {
  return readFileSync(join(istio, "samples/bookinfo/platform/kube/bookinfo.yaml"), "utf8");
}
