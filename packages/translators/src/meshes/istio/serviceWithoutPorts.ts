import { displayName, type Report, refOf } from "@isthmus/core";
import { reportOf, warningFinding } from "../../findings.ts";
import type { DestinationInputs } from "../inputs.ts";

/** Warns of TrafficPolicies for a Service without ports, as headless ones for the names of pods are: its host has no routes. */
export function serviceWithoutPorts({ destination, trafficPolicies }: DestinationInputs): readonly Report[] {
  const { ref, ports = [] } = destination.spec?.kubeService ?? {};
  if (ref === undefined || ports.length > 0) return [];
  const message = `Service ${displayName(ref)} has no ports, so no requests are routed to it: this policy has no effect there`;
  return trafficPolicies.map((policy) => reportOf(refOf(policy), warningFinding("ServiceWithoutPorts", message), refOf(destination)));
}
