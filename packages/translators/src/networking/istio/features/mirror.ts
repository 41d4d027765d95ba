import { keyOf } from "@isthmus/core";
import { invalid } from "../../../findings.ts";
import { shareFindings, shareOf } from "../percentage.ts";
import { federationFindings, portFindings, portsOf, serviceOf } from "../serviceRefs.ts";
import type { RouteCheck, RoutePolicy } from "./feature.ts";

const PATH = "spec.policy.mirror";

/** `mirror`: sends a copy of requests to a second service. */
export const mirror: RoutePolicy = ({ mirror: wanted }, context) => {
  if (wanted?.kubeService === undefined) return {};
  const { kubeService, percentage, port } = wanted;
  return {
    mirror: { host: context.hostnameOf(serviceOf(kubeService)), ...(port ? { port: { number: port } } : {}) },
    mirrorPercentage: shareOf(percentage),
  };
};

export const mirrorCheck: RouteCheck = ({ mirror: wanted }, context) => {
  if (wanted === undefined) return [];
  if (wanted.kubeService === undefined) {
    return [invalid("MirrorTargetMissing", `${PATH}.kubeService: is missing: name the service that gets the copies`)];
  }
  const service = serviceOf(wanted.kubeService);
  const destination = context.destinationOf(service);
  if (destination === undefined) {
    return [invalid("MirrorTargetUnknown", `${PATH}.kubeService: Destination for service ${keyOf(service)} not found`)];
  }
  return [
    ...portFindings(`${PATH}.port`, { service, port: wanted.port, ports: portsOf(destination) }),
    ...federationFindings(`${PATH}.kubeService`, service, context),
    ...shareFindings(`${PATH}.percentage`, wanted.percentage),
  ];
};
