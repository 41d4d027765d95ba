import type { CiliumIngressRule } from "@isthmus/api";
import { formatRef, refOf } from "@isthmus/core";
import { type Finding, warningFinding } from "../../../findings.ts";
import type { PodNetwork } from "../../../policy/podNetwork.ts";
import type { DestinationInputs } from "../../inputs.ts";

/** What would be written for a Destination. */
export interface AuditedPolicy {
  readonly name: string;
  /** All ways to be let in. */
  readonly rules: readonly CiliumIngressRule[];
  /** Those of them that the Settings allow. */
  readonly allowed: readonly CiliumIngressRule[];
}

/**
 * What enforcing would do on a Destination, and which callers it would refuse that are known to call, or that nothing refuses now. Who
 * calls is not recorded: pods that ask to be scraped, Services that are open to the outside and pods without a sidecar stand for it.
 */
export function auditFindings({ destination, pods, workloads }: DestinationInputs, policy: AuditedPolicy): readonly Finding[] {
  const { ref, ports = [], serviceType = "" } = destination.spec?.kubeService ?? {};
  const name = formatRef(refOf(destination));
  const selected = pods.filter(({ isOnHost }) => !isOnHost);
  const open = policy.rules.filter(({ fromEntities = [] }) => fromEntities.includes("all"));
  const isClosed = !open.some(({ toPorts }) => toPorts === undefined);
  const whom = pods.length === 0 ? "pods that are not known," : `${count(selected.length, "known pod")} (${firsts(namesOf(selected))})`;
  const consequence = isClosed
    ? "refuses all callers that neither an AccessPolicy nor allowFrom lets in, but for processes of the same node"
    : "refuses nobody";
  const summary =
    `with cilium.accessPolicies: ENABLED in the Settings, ${name} would get CiliumNetworkPolicy ${ref?.namespace ?? ""}/${policy.name}, which selects ` +
    `${whom} of ${count(workloads.length, "workload")} in the mesh, and ${consequence}`;
  const told = [warningFinding("NetworkLayerAudit", summary)];
  if (!isClosed) return told;
  const bare = selected.filter(({ hasSidecar }) => !hasSidecar);
  const isExposed = EXPOSED.has(serviceType) && !ports.every(({ targetPortNumber = 0 }) => letsIn(open, String(targetPortNumber)));
  const refused = [
    ...scraped(selected, [...open, ...policy.allowed]),
    ...(isExposed
      ? [
          `callers from outside of the cluster, and by other nodes, as its Service has type ${TYPES[serviceType] ?? serviceType} (they can come through a gateway)`,
        ]
      : []),
    ...(bare.length === 0 ? [] : [`callers of ${counted(bare)} without a sidecar, where the mesh refuses nobody`]),
  ];
  if (refused.length === 0) return told;
  const cut = `it would refuse, unless an AccessPolicy lets them in: ${refused.join("; ")}: name them in one, or in cilium.allowFrom of the Settings`;
  return [...told, warningFinding("NetworkLayerCuts", `${name}: ${cut}`)];
}

const TYPES: Readonly<Record<string, string>> = { NODE_PORT: "NodePort", LOAD_BALANCER: "LoadBalancer" };
const EXPOSED: ReadonlySet<string> = new Set(Object.keys(TYPES));

/** Pods that ask to be scraped where nothing lets in the one who does it, with the first of their ports. */
function scraped(pods: readonly PodNetwork[], rules: readonly CiliumIngressRule[]): readonly string[] {
  const asking = pods.filter(({ scrapedPort }) => scrapedPort !== undefined && !letsIn(rules, scrapedPort));
  if (asking.length === 0) return [];
  const ports = [...new Set(asking.flatMap(({ scrapedPort = "" }) => (scrapedPort === "" ? [] : [scrapedPort])))].sort();
  const on = ports.length === 0 ? "" : ` on port ${firsts(ports)}`;
  return [`scrapers of ${counted(asking)} with prometheus.io/scrape${on}`];
}

/** Whether one of the rules lets its callers, no matter who they are, reach a port; "" for all ports. */
function letsIn(rules: readonly CiliumIngressRule[], port: string): boolean {
  return rules.some(({ toPorts }) => toPorts === undefined || toPorts.some(({ ports = [] }) => ports.some((one) => one.port === port)));
}

/** More names would only make the message longer, and a status holds those of a thousand Services. */
const MOST_NAMES = 3;

function firsts(names: readonly string[], most = MOST_NAMES): string {
  const more = names.length - most;
  return `${names.slice(0, most).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function namesOf(pods: readonly PodNetwork[]): readonly string[] {
  return pods.map(({ name }) => name).sort();
}

function counted(pods: readonly PodNetwork[]): string {
  return `${count(pods.length, "pod")} (${firsts(namesOf(pods), 1)})`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
