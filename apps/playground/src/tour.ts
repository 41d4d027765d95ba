import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AuthorizationPolicy, VirtualMesh, VirtualService } from "@isthmus/api";
import { CODE_CLASSES, isOwnedBy, type Resource, SIGNAL_AT, type TrafficEdge } from "@isthmus/core";
import { ACTIVITY_MINUTES } from "@isthmus/plane";
import { demoPolicies } from "@isthmus/simulator";
import { networkingOwner } from "@isthmus/translators";
import { stringify } from "yaml";
import { NAMESPACE } from "./agent.ts";
import { colors } from "./colors.ts";
import type { Demo } from "./demo.ts";
import { demoVirtualMesh, withNextRoot } from "./trust/virtualMesh.ts";
import { isFederated, isPolicyApplied, until } from "./waiting.ts";

/** Where the tour's manifests are, beside the kubeconfig of the demo. */
export const TOUR_FOLDER = ".isthmus/tour";

/** One thing to do, and how the demo sees that it is done. */
export interface TourStep {
  readonly title: string;
  /** Of the file that is applied; undefined: nothing is. */
  readonly file?: { readonly name: string; readonly content: readonly Resource[] };
  /** What the user enters, after `kubectl --kubeconfig …`. */
  readonly command: string;
  /** Whether it is done, by the API servers of the demo. */
  readonly isDone: (demo: Demo) => Promise<boolean>;
  /** What follows from it in the proxies' figures, and whether they show it. */
  readonly effect: { readonly text: string; readonly isSeen: (demo: Demo) => boolean };
  /** What to look at in the console. */
  readonly look: string;
}

const { shiftPolicy, accessPolicy } = demoPolicies;
const OWNER = networkingOwner(NAMESPACE);
const apply = (name: string) => `--context mgmt apply -f ${TOUR_FOLDER}/${name}`;

/** Federate, shift, deny, fail over, rotate, and undo. */
export const TOUR: readonly TourStep[] = [
  {
    title: "Federate both meshes",
    file: { name: "1-federate.yaml", content: [demoVirtualMesh] },
    command: apply("1-federate.yaml"),
    isDone: isFederated,
    effect: {
      text: "the gateway of cluster-2 reaches productpage in cluster-1",
      isSeen: (demo) => requests(demo, "cluster-2", ({ service }) => service === "productpage.bookinfo.svc.cluster-1.global") > 0,
    },
    look: "Topology: an edge from cluster-2 to productpage in cluster-1; its p95 is higher than that of calls in one cluster",
  },
  {
    title: "Shift a quarter of the traffic to reviews to cluster-2",
    file: { name: "2-shift.yaml", content: [shiftPolicy] },
    command: apply("2-shift.yaml"),
    isDone: (demo) => isPolicyApplied(demo, shiftPolicy),
    effect: {
      text: "productpage calls reviews in cluster-2",
      isSeen: (demo) => requests(demo, "cluster-1", ({ service }) => service === "reviews.bookinfo.svc.cluster-2.global") > 0,
    },
    look: "Topology: productpage-v1 calls both reviews; Destinations, reviews of cluster-1: the routes, and which policy sets them",
  },
  {
    title: "Deny all callers of ratings in cluster-2 but reviews",
    file: { name: "3-deny.yaml", content: [accessPolicy] },
    command: apply("3-deny.yaml"),
    isDone: (demo) => Promise.resolve(isThere(demo, accessPolicy)),
    effect: {
      text: "the gateway of cluster-2, which calls ratings past everybody, gets 403",
      isSeen: (demo) =>
        requests(
          demo,
          "cluster-2",
          ({ sourceWorkload, service }) => sourceWorkload === "istio-ingressgateway" && service === "ratings",
          "4xx",
        ) > 0,
    },
    look: "Access: who may call ratings, and by which policy; Topology: the errors of that edge; `meshctl logs access --status 4xx` with the address above",
  },
  {
    title: "Take the pod of ratings in cluster-1 away, so that cluster-2 takes over",
    command: "--context cluster-1 -n bookinfo scale deployment ratings-v1 --replicas=0",
    isDone: async (demo) => replicasOfRatings(demo) === 0,
    effect: {
      text: "reviews-v2 of cluster-1 calls ratings in cluster-2, as the VirtualMesh has the services of both clusters fail over",
      isSeen: (demo) => failedOver(demo) > 0,
    },
    look: "Topology: the edge from reviews-v2 to ratings of cluster-2, where some requests fail; Destinations, ratings of cluster-1: no endpoint",
  },
  {
    title: "Replace the root certificate, which ends within weeks, while requests go on",
    file: { name: "5-rotate.yaml", content: [withNextRoot(demoVirtualMesh)] },
    command: apply("5-rotate.yaml"),
    isDone: async (demo) => (await isFederated(demo)) && rootOf(demo) === "generated",
    effect: { text: "each proxy has a certificate below the new root, and trusts no other", isSeen: ({ hasOneRoot }) => hasOneRoot() },
    look: "VirtualMeshes, bookinfo: what became of each mesh; Certificates: the root, and when it ends. Each step waited until all proxies of both clusters were ready for it",
  },
  {
    title: "Undo: start ratings again, and delete what you have applied for shift and access",
    command: `--context cluster-1 -n bookinfo scale deployment ratings-v1 --replicas=1
  kubectl --kubeconfig .isthmus/kubeconfig --context mgmt delete -f ${TOUR_FOLDER}/2-shift.yaml -f ${TOUR_FOLDER}/3-deny.yaml`,
    isDone: async (demo) => replicasOfRatings(demo) === 1 && ![shiftPolicy, accessPolicy].some((policy) => isThere(demo, policy)),
    effect: { text: "what was generated from them is deleted; the federation stays", isSeen: (demo) => generated(demo) === 0 },
    look: "Policies: none is left; Debug, Snapshots: compare now with ten minutes ago",
  },
];

/** Writes the manifests of the tour in place of earlier ones. The result removes them. */
export function writeTour(folder: string): () => void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const { file } of TOUR)
    if (file !== undefined) writeFileSync(join(folder, file.name), file.content.map((one) => stringify(one)).join("---\n"));
  return () => rmSync(folder, { recursive: true, force: true });
}

/** Tells of one step after the other, and waits for each until the user has done it and its effect is seen; until `signal` is aborted. */
export async function guide(demo: Demo, say: (line: string) => void, signal: AbortSignal): Promise<void> {
  for (const [at, step] of TOUR.entries()) {
    say(`\n${colors.bold(`${at + 1}/${TOUR.length}  ${step.title}`)}. In another terminal, in this folder:\n`);
    say(`  kubectl --kubeconfig .isthmus/kubeconfig ${step.command}\n`);
    await until(step.title, () => step.isDone(demo), { limitMs: Number.POSITIVE_INFINITY, signal });
    say(`${colors.green("✓")} done. Waiting until proxies show it: ${step.effect.text} …`);
    await until(step.effect.text, () => Promise.resolve(step.effect.isSeen(demo)), { limitMs: Number.POSITIVE_INFINITY, signal });
    say(`${colors.green("✓")} seen. Look at ${step.look}.`);
  }
  say(`\n${colors.bold("That was the tour.")} The keys still work: ? lists them.`);
}

/** Requests on edges of a cluster in the last five minutes: all of them, or those with a code of a class. */
function requests({ traffic }: Demo, cluster: string, isMeant: (edge: TrafficEdge) => boolean, codes?: "4xx" | "5xx"): number {
  const edges = traffic.activity().get(cluster)?.traffic?.edges ?? [];
  const classes = codes === undefined ? CODE_CLASSES : [codes];
  const counts = edges.flatMap(({ edge, signals }) =>
    isMeant(edge) ? classes.map((one) => signals[MINUTES_AT]?.[SIGNAL_AT.codes + CODE_CLASSES.indexOf(one)] ?? 0) : [],
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

const MINUTES_AT = ACTIVITY_MINUTES.indexOf(5);

function isThere({ management }: Demo, { apiVersion, kind, metadata }: Resource): boolean {
  return management.object({ apiVersion, kind, name: metadata.name, namespace: metadata.namespace ?? "" }) !== undefined;
}

/** Requests of cluster-1 that ratings of cluster-2 has answered in place of its own. */
function failedOver(demo: Demo): number {
  return requests(
    demo,
    "cluster-1",
    ({ sourceWorkload, service, cluster }) => sourceWorkload === "reviews-v2" && service === "ratings" && cluster === "cluster-2",
  );
}

/** Which root the VirtualMesh names. */
function rootOf({ management }: Demo): string | undefined {
  const { name, namespace = "" } = demoVirtualMesh.metadata;
  const found = management.object({ apiVersion: VirtualMesh.apiVersion, kind: VirtualMesh.kind, name, namespace }) as
    | VirtualMesh
    | undefined;
  return Object.keys(found?.spec?.mtlsConfig?.shared?.rootCertificateAuthority ?? {})[0];
}

function replicasOfRatings({ workload }: Demo): number | undefined {
  const found = workload[0]?.object({ apiVersion: "apps/v1", kind: "Deployment", name: "ratings-v1", namespace: "bookinfo" });
  return (found as { readonly spec?: { readonly replicas?: number } } | undefined)?.spec?.replicas;
}

/** Objects of ours in clusters that are there because of the shift or of the access policy alone. */
function generated({ workload }: Demo): number {
  const all = workload.flatMap((cluster) => cluster.objects());
  return all.filter((one) => [VirtualService.kind, AuthorizationPolicy.kind].includes(one.kind) && isOwnedBy(one, OWNER)).length;
}
