import { type DestinationSelector, ineffectiveFields, VirtualDestination, type VirtualDestinationSpec } from "@isthmus/api";
import { keptText } from "@isthmus/core";
import { type Finding, invalidFinding, warningFinding } from "../../findings.ts";
import { isDnsName, isNumeric, MOST_LETTERS } from "../hosts/givenHosts.ts";
import { ignoredField } from "../ineffective.ts";
import { missingMembers } from "../missingMembers.ts";
import { namesNothing } from "../selectors.ts";

/** What is wrong, or without effect, in what a VirtualDestination says by itself, whatever exists. */
export function virtualDestinationFindings(spec: VirtualDestinationSpec): readonly Finding[] {
  return [
    ...hostFindings(spec),
    ...portFindings(spec.port),
    ...exportFindings(spec),
    ...targetFindings(spec),
    ...directiveFindings(spec),
    ...ineffectiveFields(VirtualDestination.definition.fields.spec, spec, "spec")
      .filter(({ type, path }) => type !== "unknown" || !LOCALITY.test(path))
      .map(ignoredField),
  ];
}

/** The selectors by which a spec chooses its destinations: of a fixed order, one entry with all of them. */
export function targetSelectorsOf({ static: order, localized }: VirtualDestinationSpec): readonly DestinationSelector[] {
  const { destinationSelectors = [] } = localized ?? {};
  if (destinationSelectors.length > 0 || order === undefined) return destinationSelectors;
  return [{ kubeServiceRefs: { services: (order.destinations ?? []).map(({ kubeService = {} }) => kubeService) } }];
}

/** Whether a spec gives an order that is the same in all meshes. */
export function isStatic({ static: order, localized }: VirtualDestinationSpec): boolean {
  return order !== undefined && (localized?.destinationSelectors ?? []).length === 0;
}

function hostFindings({ hostname = "" }: VirtualDestinationSpec): readonly Finding[] {
  if (isHostname(hostname)) return [];
  const shown = hostname === "" ? "is missing" : `${JSON.stringify(keptText(hostname, MOST_LETTERS))} is not a DNS name`;
  return [invalidFinding("HostnameInvalid", `spec.hostname: ${shown}: set a host name of two or more parts, such as reviews.mesh.global`)];
}

/** A name in lower case, of several labels, that is no IP address and has no wildcard. Source: istio.io ServiceEntry.hosts; RFC 1123. */
function isHostname(text: string): boolean {
  return text.includes(".") && isDnsName(text) && !isNumeric(text);
}

function portFindings(port: VirtualDestinationSpec["port"]): readonly Finding[] {
  const { number = 0, protocol = "HTTP" } = port ?? {};
  return [
    ...(number > 0 ? [] : [invalidFinding("ValueInvalid", "spec.port.number: is missing: set the port at which clients call the host")]),
    ...(PROTOCOLS.includes(protocol.toUpperCase())
      ? []
      : [
          invalidFinding(
            "ValueInvalid",
            `spec.port.protocol: ${JSON.stringify(keptText(protocol, MOST_LETTERS))} is not one of ${PROTOCOLS.join(", ")}`,
          ),
        ]),
  ];
}

const PROTOCOLS: readonly string[] = ["HTTP", "HTTPS", "GRPC", "HTTP2", "MONGO", "TCP", "TLS"];

function exportFindings({ virtualMesh, meshList }: VirtualDestinationSpec): readonly Finding[] {
  const meshes = meshList?.meshes ?? [];
  if (meshList === undefined) {
    if (virtualMesh === undefined) {
      return [invalidFinding("ExportMissing", "spec: has neither virtualMesh nor meshList, so no mesh can call the host: set virtualMesh")];
    }
    const missing = missingMembers(virtualMesh, ["name", "namespace"]);
    return missing === undefined ? [] : [invalidFinding("MeshRefIncomplete", `spec.virtualMesh: ${missing}`)];
  }
  return [
    // The published product takes the one that its API declares last.
    ...(virtualMesh === undefined
      ? []
      : [warningFinding("NoEffect", "spec.virtualMesh: no effect, because meshList names the meshes: remove one of the two")]),
    ...(meshes.length > 0
      ? []
      : [invalidFinding("ExportMissing", "spec.meshList.meshes: is empty, so no mesh can call the host: name meshes, or set virtualMesh")]),
    ...meshes.flatMap((ref, i) => {
      const missing = missingMembers(ref, ["name", "namespace"]);
      return missing === undefined ? [] : [invalidFinding("MeshRefIncomplete", `spec.meshList.meshes[${i}]: ${missing}`)];
    }),
  ];
}

function targetFindings(spec: VirtualDestinationSpec): readonly Finding[] {
  const { static: order, localized } = spec;
  const selectors = localized?.destinationSelectors ?? [];
  if (selectors.length > 0) {
    const unused =
      order === undefined
        ? []
        : [warningFinding("NoEffect", "spec.static: no effect, because localized.destinationSelectors selects: remove one of the two")];
    return [...unused, ...selectors.flatMap(entryFindings)];
  }
  if (order === undefined) {
    const path = localized === undefined ? "spec" : "spec.localized.destinationSelectors";
    return [invalidFinding("TargetsMissing", `${path}: names no destinations: set localized.destinationSelectors, or static.destinations`)];
  }
  const { destinations = [] } = order;
  const services = destinations.map(({ kubeService = {} }) => `${kubeService.name}.${kubeService.namespace}.${kubeService.clusterName}`);
  return [
    ...(destinations.length > 0
      ? []
      : [invalidFinding("TargetsMissing", "spec.static.destinations: is empty: name Services in their order")]),
    ...destinations.flatMap(({ kubeService = {} }, i) => {
      const path = `spec.static.destinations[${i}].kubeService`;
      const missing = missingMembers(kubeService, ["name", "namespace", "clusterName"]);
      if (missing !== undefined) return [invalidFinding("DestinationRefIncomplete", `${path}: ${missing}`)];
      if (services.indexOf(services[i] ?? "") === i) return [];
      return [invalidFinding("ValueInvalid", `${path}: is named before: remove one of the two`)];
    }),
    ...((localized?.failoverDirectives ?? []).length === 0
      ? []
      : [warningFinding("NoEffect", "spec.localized.failoverDirectives: no effect on the order of static: remove them")]),
  ];
}

function entryFindings(entry: DestinationSelector, position: number): readonly Finding[] {
  if (!namesNothing(entry)) return [];
  return [
    warningFinding("SelectsNothing", `spec.localized.destinationSelectors[${position}]: an empty entry selects nothing: name services`),
  ];
}

function directiveFindings({ localized }: VirtualDestinationSpec): readonly Finding[] {
  const directives = localized?.failoverDirectives ?? [];
  const regions = directives.map(({ from }) => from?.region ?? "");
  return directives.flatMap((directive, i) => {
    const path = `spec.localized.failoverDirectives[${i}]`;
    const { from, to = [] } = directive;
    const named = to.map(({ region = "" }) => region);
    const invalid = (where: string, what: string) => invalidFinding("DirectiveInvalid", `${path}${where}: ${what}`);
    return [
      ...localityFindings(from ?? {}, `${path}.from`),
      ...to.flatMap((locality, j) => localityFindings(locality, `${path}.to[${j}]`)),
      ...(to.length === 0 ? [invalid(".to", "is empty: name the regions to fail over to")] : []),
      ...(regions[i] !== "" && regions.indexOf(regions[i] ?? "") !== i
        ? [invalid(".from.region", `${shown(regions[i])} has a directive before: list all its regions in one`)]
        : []),
      ...named.flatMap((region, j) => {
        if (region === "") return [];
        if (region === regions[i]) return [invalid(`.to[${j}].region`, `${shown(region)} is the region of from: remove it`)];
        return named.indexOf(region) === j ? [] : [invalid(`.to[${j}].region`, `${shown(region)} is named before: remove it`)];
      }),
    ];
  });
}

function localityFindings(locality: object & { readonly region?: string }, path: string): readonly Finding[] {
  const known = Object.keys(LOCALITY_SCHEMA.properties);
  const unknown = Object.keys(locality).filter((key) => !known.includes(key));
  return [
    ...unknown.map((key) => invalidFinding("DirectiveInvalid", `${path}.${key}: is not part of a locality: set region alone`)),
    ...(locality.region ? [] : [invalidFinding("DirectiveInvalid", `${path}.region: is missing: set a region, such as us-east-1`)]),
  ];
}

const LOCALITY_SCHEMA = VirtualDestination.definition.fields.spec.properties.localized.properties.failoverDirectives.items.properties.from;
// Reported as invalid already.
const LOCALITY = /^spec\.localized\.failoverDirectives\[\d+\]\.(?:from|to\[\d+\])\./;

function shown(text: string | undefined): string {
  return JSON.stringify(keptText(text ?? "", MOST_LETTERS));
}
