import type {
  AccessPolicy,
  DestinationSelector,
  HttpMatcher,
  IdentitySelector,
  TrafficPolicy,
  VirtualDestination,
  VirtualMesh,
  WorkloadSelector,
} from "@isthmus/api";
import type { Cell } from "../../output/boxedTable.ts";
import { fieldLines, labelLines, paragraphs, refLines, refsLines } from "./cells.ts";
import type { Description } from "./description.ts";
import { statusLines } from "./statusLines.ts";

/** Source of the columns: the published `meshctl describe`; STATUS is ours. */
export const virtualMeshDescription: Description<VirtualMesh> = {
  kind: "VirtualMesh",
  headers: ["METADATA", "NET", "MESHES", "STATUS"],
  cells: ({ metadata, spec = {}, status }) => [
    refLines(metadata),
    fieldLines({
      "Global Access Policy": spec.globalAccessPolicy ?? "MESH_DEFAULT",
      "Federated Destinations": status?.targetCount,
    }),
    refsLines(spec.meshes ?? []),
    statusLines(status),
  ],
};

/** The columns are ours: none is published. */
export const virtualDestinationDescription: Description<VirtualDestination> = {
  kind: "VirtualDestination",
  headers: ["METADATA", "HOST", "EXPORTED TO", "DESTINATIONS", "STATUS"],
  cells: ({ metadata, spec = {}, status }) => [
    refLines(metadata),
    fieldLines({
      Hostname: spec.hostname,
      Port: portText(spec.port),
      Order: spec.static === undefined ? "by distance" : "the same in all meshes",
    }),
    spec.meshList === undefined
      ? paragraphs([["VIRTUAL MESH", ...refLines(spec.virtualMesh ?? {})]])
      : refsLines(spec.meshList.meshes ?? []),
    refsLines((status?.selectedDestinations ?? []).map(({ ref, destination }) => destination?.kubeService ?? ref ?? {})),
    statusLines(status),
  ],
};

function portText(port: NonNullable<VirtualDestination["spec"]>["port"]): string | undefined {
  const { number, protocol, targetName, targetNumber } = port ?? {};
  const target = targetName ?? targetNumber;
  const parts = [String(number ?? ""), protocol ?? "", target === undefined ? "" : `to ${target} of the Services`];
  return number === undefined ? undefined : parts.filter((part) => part !== "").join(" ");
}

/** Source of the columns: the published `meshctl describe`. */
export const trafficPolicyDescription: Description<TrafficPolicy> = {
  kind: "TrafficPolicy",
  headers: ["METADATA", "SOURCE WORKLOADS", "DESTINATION SERVICES", "HTTP MATCHERS", "STATUS"],
  cells: ({ metadata, spec = {}, status }) => [
    refLines(metadata),
    paragraphs((spec.sourceSelector ?? []).map(workloadLines)),
    paragraphs((spec.destinationSelector ?? []).map(destinationLines)),
    paragraphs((spec.httpRequestMatchers ?? []).map(matcherLines)),
    statusLines(status),
  ],
};

/** Source of the columns: as above. */
export const accessPolicyDescription: Description<AccessPolicy> = {
  kind: "AccessPolicy",
  headers: ["METADATA", "FILTERS", "SOURCE SERVICE ACCOUNTS", "DESTINATION SERVICES", "STATUS"],
  cells: ({ metadata, spec = {}, status }) => [
    refLines(metadata),
    fieldLines({
      "Allowed Paths": spec.allowedPaths,
      "Allowed Methods": spec.allowedMethods,
      "Allowed Ports": spec.allowedPorts?.map(String),
    }),
    paragraphs((spec.sourceSelector ?? []).map(identityLines)),
    paragraphs((spec.destinationSelector ?? []).map(destinationLines)),
    statusLines(status),
  ],
};

function workloadLines({ kubeWorkloadMatcher = {} }: WorkloadSelector): Cell {
  const { namespaces, clusters, labels } = kubeWorkloadMatcher;
  return [...fieldLines({ Namespaces: namespaces, Clusters: clusters }), ...labelLines("LABELS", labels)];
}

function destinationLines(selector: DestinationSelector): Cell {
  const { kubeServiceMatcher, kubeServiceRefs, virtualDestinationMatcher = {}, virtualDestinationRefs } = selector;
  const { namespaces, clusters, labels } = kubeServiceMatcher ?? {};
  return paragraphs([
    [...fieldLines({ Namespaces: namespaces, Clusters: clusters }), ...labelLines("LABELS", labels)],
    refsLines(kubeServiceRefs?.services ?? []),
    [
      ...fieldLines({ "VirtualDestinations in": virtualDestinationMatcher.namespaces }),
      ...labelLines("VIRTUALDESTINATION LABELS", virtualDestinationMatcher.labels),
    ],
    refsLines(virtualDestinationRefs?.virtualDestinations ?? []),
  ]);
}

function identityLines({ kubeIdentityMatcher, kubeServiceAccountRefs }: IdentitySelector): Cell {
  const { namespaces, clusters } = kubeIdentityMatcher ?? {};
  return paragraphs([fieldLines({ Namespaces: namespaces, Clusters: clusters }), refsLines(kubeServiceAccountRefs?.serviceAccounts ?? [])]);
}

function matcherLines({ uri = {}, method, headers = [], queryParameters = [] }: HttpMatcher): Cell {
  const { prefix, exact, regex, suffix } = uri;
  const titled = (title: string, lines: readonly string[]): Cell => (lines.length === 0 ? [] : [title, ...lines]);
  const line = ({ name = "", value = "", regex = false }: { readonly name?: string; readonly value?: string; readonly regex?: boolean }) =>
    `${name}: ${value}${regex ? " (regex)" : ""}`;
  return [
    ...fieldLines({ Prefix: prefix, Exact: exact, Regex: regex, Suffix: suffix, Method: method }),
    ...titled(
      "HEADERS",
      headers.map((header) => `${line(header)}${header.invertMatch ? " (inverted)" : ""}`),
    ),
    ...titled("QUERY PARAMETERS", queryParameters.map(line)),
  ];
}
