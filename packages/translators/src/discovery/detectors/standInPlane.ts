import type { Deployment } from "@isthmus/api";
import { meshInstallationOf } from "@isthmus/api";
import { FIRST_SEEN } from "@isthmus/core";
import { LastKnownMesh } from "../../policy/lastKnownMesh.ts";
import { isControlPlane } from "../controlPlanes.ts";
import { meshNameOf } from "../infrastructure.ts";
import { REVISION_LABEL } from "./istioMesh.ts";

/**
 * Stands for the Deployment of a control plane that is not there any more, while policies rely on its mesh (docs/decisions/0175): of a kind of its own,
 * so that it is never taken for the Deployment that may come back.
 */
export interface HeldControlPlane extends Deployment {
  readonly held: LastKnownMesh;
}

/** The control plane as it was, where it is gone; undefined of one that is there. */
export function heldOf(deployment: Deployment): LastKnownMesh | undefined {
  return (deployment as Partial<HeldControlPlane>).held;
}

/** The namespaces that were known as infrastructure of its cluster while it was there; none where nothing vouched for any. */
export function systemNamespacesOf({ spec }: LastKnownMesh): readonly string[] {
  return spec?.istio?.systemNamespaces ?? [];
}

/**
 * A Deployment by which discovery finds the control plane that it remembers; undefined where nothing tells which it was. `isFirst`: all others yield to
 * it; else it yields to them.
 */
export function standInFor(known: LastKnownMesh, isFirst = false): HeldControlPlane | undefined {
  const { cluster, home, spec } = known;
  if (cluster === "" || home === "" || spec === undefined) return undefined;
  const { podLabels = {}, version = "" } = meshInstallationOf({ spec }) ?? {};
  const isOsm = "osm" in spec;
  const containers = isOsm
    ? [{ name: OSM_CONTROLLER, image: `${OSM_CONTROLLER}:${version}` }]
    : [{ name: "discovery", image: `istio/pilot:${version}` }];
  return namesOf(known)
    .map(
      (name): HeldControlPlane => ({
        apiVersion: LastKnownMesh.apiVersion,
        kind: "ControlPlaneMemory",
        metadata: {
          name,
          namespace: home,
          clusterName: cluster,
          annotations: { ...known.annotations, ...(isFirst ? { [FIRST_SEEN]: EARLIEST } : {}) },
          ...(isFirst ? { creationTimestamp: EARLIEST } : {}),
        },
        spec: { selector: { matchLabels: podLabels }, template: { metadata: { labels: podLabels }, spec: { containers } } },
        held: known,
      }),
    )
    .find((standIn) => meshNameOf(standIn) === known.metadata.name && isControlPlane(standIn));
}

const EARLIEST = "1970-01-01T00:00:00Z";
const OSM_CONTROLLER = "osm-controller";

/** What the Deployment may have been called: the name of a Mesh is cut where it is too long. */
function namesOf({ metadata, cluster, home, spec }: LastKnownMesh): readonly string[] {
  const end = `-${home}-${cluster}`;
  const revision = (spec && meshInstallationOf({ spec }))?.podLabels?.[REVISION_LABEL] ?? "";
  return [...(metadata.name.endsWith(end) ? [metadata.name.slice(0, -end.length)] : []), "istiod", `istiod-${revision}`];
}
