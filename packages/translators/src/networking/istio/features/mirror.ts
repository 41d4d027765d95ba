import { keyOf } from "@isthmus/core";
import { invalid } from "../../../findings.ts";
import { shareFindings, shareOf } from "../percentage.ts";
import { federationFindings, portFindings, portsOf, serviceOf } from "../serviceRefs.ts";
import { defineReferringFeature } from "./feature.ts";

const PATH = "spec.policy.mirror";

/** Sends a copy of requests to a second service. */
export const mirror = defineReferringFeature({
  field: "mirror",
  writes: "route",
  sets: { mirror: PATH, mirrorPercentage: `${PATH}.percentage` },
  refersTo: ({ kubeService }) => (kubeService === undefined ? [] : [{ service: serviceOf(kubeService) }]),
  fieldsOf: ({ kubeService, percentage, port }, context) => {
    if (kubeService === undefined) return {};
    return {
      mirror: { host: context.hostnameOf(serviceOf(kubeService)), ...(port ? { port: { number: port } } : {}) },
      mirrorPercentage: shareOf(percentage),
    };
  },
  check: ({ kubeService, percentage, port }, context) => {
    if (kubeService === undefined) {
      return [invalid("MirrorTargetMissing", `${PATH}.kubeService: is missing: name the service that gets the copies`)];
    }
    const service = serviceOf(kubeService);
    const destination = context.destinationOf(service);
    if (destination === undefined) {
      return [invalid("MirrorTargetUnknown", `${PATH}.kubeService: Destination for service ${keyOf(service)} not found`)];
    }
    return [
      ...portFindings(`${PATH}.port`, { service, port, ports: portsOf(destination) }),
      ...federationFindings(`${PATH}.kubeService`, service, context),
      ...shareFindings(`${PATH}.percentage`, percentage),
    ];
  },
});
