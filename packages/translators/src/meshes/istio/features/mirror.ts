import { displayName } from "@isthmus/core";
import { type Finding, invalidFinding, warningFinding } from "../../../findings.ts";
import { portFindings, portsOf, serviceNotFound, serviceOf, unfederatedServiceFindings } from "../../../policy/hosts/serviceRefs.ts";
import { shareFindings, shareOf } from "../percentage.ts";
import { virtualHostFindings } from "../virtualDestination/virtualHostFindings.ts";
import { defineReferringFeature, type RouteContext } from "./feature.ts";

const PATH = "spec.policy.mirror";

/** Sends a copy of requests to a second service. */
export const mirror = defineReferringFeature({
  field: "mirror",
  writes: "route",
  sets: { mirror: PATH, mirrorPercentage: `${PATH}.percentage` },
  refersTo: ({ kubeService, virtualDestination }) => {
    if (kubeService !== undefined) return [{ service: serviceOf(kubeService) }];
    return virtualDestination === undefined ? [] : [{ virtualDestination: serviceOf(virtualDestination) }];
  },
  fieldsOf: ({ kubeService, virtualDestination, percentage, port }, context) => {
    if (kubeService === undefined) {
      const { hostname = "", port: own } = context.virtualDestinationOf(serviceOf(virtualDestination ?? {}))?.spec ?? {};
      if (virtualDestination === undefined || hostname === "") return {};
      return {
        mirror: { host: hostname, ...(own?.number ? { port: { number: own.number } } : {}) },
        mirrorPercentage: shareOf(percentage),
      };
    }
    return {
      mirror: { host: context.hostnameOf(serviceOf(kubeService)), ...(port ? { port: { number: port } } : {}) },
      mirrorPercentage: shareOf(percentage),
    };
  },
  check: ({ kubeService, virtualDestination, percentage, port }, context) => {
    if (kubeService === undefined && virtualDestination !== undefined) {
      const unused = port
        ? [warningFinding("NoEffect", `${PATH}.port: no effect, because a VirtualDestination has one port: remove it`)]
        : [];
      return [...virtualFindings(virtualDestination, context), ...unused, ...shareFindings(`${PATH}.percentage`, percentage)];
    }
    if (kubeService === undefined) {
      return [
        invalidFinding(
          "MirrorTargetMissing",
          `${PATH}.kubeService: is required: set the service that receives the mirrored requests, or virtualDestination`,
        ),
      ];
    }
    const service = serviceOf(kubeService);
    const destination = context.destinationOf(service);
    if (destination === undefined) {
      return [invalidFinding("MirrorTargetUnknown", serviceNotFound(`${PATH}.kubeService`, service))];
    }
    return [
      ...portFindings(`${PATH}.port`, { service, port, ports: portsOf(destination) }),
      ...unfederatedServiceFindings(`${PATH}.kubeService`, service, context),
      ...shareFindings(`${PATH}.percentage`, percentage),
    ];
  },
});

function virtualFindings(ref: { readonly name?: string; readonly namespace?: string }, context: RouteContext): readonly Finding[] {
  const path = `${PATH}.virtualDestination`;
  const found = context.virtualDestinationOf(serviceOf(ref));
  if (found !== undefined) return virtualHostFindings(path, found);
  const message = `${path}: VirtualDestination ${displayName(serviceOf(ref))} not found: check name and namespace`;
  return [invalidFinding("MirrorTargetUnknown", message)];
}
