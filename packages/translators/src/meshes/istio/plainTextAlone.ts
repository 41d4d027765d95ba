import { type PeerAuthentication, rootNamespaceOf } from "@isthmus/api";
import type { DestinationInputs } from "../inputs.ts";
import { peerTlsMode } from "./access/peerAuthentications.ts";
import { podsWithProxy } from "./access/rulesOnPods.ts";

/** The PeerAuthentication by which all pods of a Destination take plain text alone; undefined where none is known. What is about some ports alone is not judged. */
export function plainTextAlone(inputs: DestinationInputs): PeerAuthentication | undefined {
  const { destination, mesh, peerAuthentications } = inputs;
  const { namespace } = destination.spec?.kubeService?.ref ?? {};
  if (namespace === undefined || peerAuthentications.length === 0) return undefined;
  const place = { namespace, rootNamespace: rootNamespaceOf(mesh) };
  const modes = podsWithProxy(inputs).map((labels) => peerTlsMode(peerAuthentications, { labels, ...place }, undefined));
  return modes.every(({ mode }) => mode === "DISABLE") ? modes[0]?.by : undefined;
}
