import type { VirtualMesh } from "@isthmus/api";
import type { Finding } from "../../../findings.ts";
import { durationFindings } from "../durations.ts";

/** What is to be said of the keepalive between the meshes of a VirtualMesh. One that can't be is left out; that is no reason to take the meshes apart. */
export function keepaliveFindings({ spec }: VirtualMesh): readonly Finding[] {
  const { time, interval } = spec?.federation?.tcpKeepalive ?? {};
  const path = "spec.federation.tcpKeepalive";
  return [...durationFindings(`${path}.time`, time), ...durationFindings(`${path}.interval`, interval)].map((finding) => ({
    ...finding,
    state: "WARNING",
  }));
}
