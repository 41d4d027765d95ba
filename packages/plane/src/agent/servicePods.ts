import { Pod } from "@isthmus/api";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { SchemaProblem } from "./schemas/openApiDocument.ts";

/** The pods that a Service is said to lead to. */
export interface ReportedEndpoints {
  readonly service: string;
  readonly namespace: string;
  readonly selector: Readonly<Record<string, string>>;
  /** Of ready endpoints, as the EndpointSlices have them. */
  readonly addresses: readonly string[];
}

/**
 * Compares EndpointSlices with the pods that the API server knows: who may write slices may write any address into them, while the address of a pod is the kubelet's word. Throws SchemaProblem for an
 * address that no pod has which the Service selects.
 */
export async function checkEndpoints(
  cluster: Cluster,
  { service, namespace, selector, addresses }: ReportedEndpoints,
  signal: AbortSignal,
): Promise<void> {
  const listed = await cluster
    .list(Pod, { namespace, labels: { matchLabels: selector }, transform: onlyAddresses }, signal)
    .catch((error: unknown) => {
      if (!(error instanceof ClusterError)) throw error;
      throw new SchemaProblem("Unreachable", `the pods of Service ${service} cannot be listed: ${error.message}`);
    });
  const known = new Set(listed.items.flatMap((pod) => (pod as PodWithAddresses).status?.podIPs?.map(({ ip }) => ip) ?? []));
  if (addresses.every((address) => known.has(address))) return;
  throw new SchemaProblem(
    "Refused",
    `an EndpointSlice of Service ${service} has the address of no pod that the Service selects: delete the EndpointSlice; a pod that is new is seen within ten minutes`,
  );
}

interface PodWithAddresses {
  readonly status?: { readonly podIPs?: readonly { readonly ip?: string }[] };
}

/** Agents keep no status of pods: of a page no more stands in memory. */
function onlyAddresses(pod: Pod): Pod {
  const { apiVersion, kind, metadata } = pod;
  const { podIPs } = (pod as PodWithAddresses).status ?? {};
  return { apiVersion, kind, metadata: { name: metadata.name }, ...(podIPs === undefined ? {} : { status: { podIPs } }) } as Pod;
}
