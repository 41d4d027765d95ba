import { type Pod, REVISION_ANNOTATION, SCRAPE_ANNOTATION, SCRAPE_PORT_ANNOTATION, SIDECAR_STATUS_ANNOTATION } from "@isthmus/api";

/** What is read of a pod behind a Destination: how calls reach it. */
export interface PodNetwork {
  readonly name: string;
  /** Whether it has the addresses of its node, and no identity of its own at the network layer. */
  readonly isOnHost: boolean;
  /** Whether an injector noted a sidecar of Istio: without one the mesh refuses nobody there. */
  readonly hasSidecar: boolean;
  /** The port at which it asks to be scraped, "" for any; undefined where it does not ask. */
  readonly scrapedPort: string | undefined;
}

/** How calls reach a pod. */
export function podNetworkOf({ metadata: { name, annotations = {} }, spec }: Pod): PodNetwork {
  return {
    name,
    isOnHost: spec?.hostNetwork === true,
    hasSidecar: [REVISION_ANNOTATION, SIDECAR_STATUS_ANNOTATION].some((key) => annotations[key] !== undefined),
    scrapedPort: annotations[SCRAPE_ANNOTATION] === "true" ? (annotations[SCRAPE_PORT_ANNOTATION] ?? "") : undefined,
  };
}
