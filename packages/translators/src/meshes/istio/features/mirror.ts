import { invalidFinding } from "../../../findings.ts";
import { portFindings, portsOf, serviceNotFound, serviceOf, unfederatedServiceFindings } from "../../../policy/serviceRefs.ts";
import { shareFindings, shareOf } from "../percentage.ts";
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
      return [
        invalidFinding("MirrorTargetMissing", `${PATH}.kubeService: is required: set the service that receives the mirrored requests`),
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
