import { Destination } from "@isthmus/api";
import { keyOfResource, type Snapshot } from "@isthmus/core";
import { type TranslateOptions, type Translation, translate } from "@isthmus/translators";

/**
 * The same translation without the endpoints and gateway addresses of some clusters. All else of them stays: their meshes, and what users
 * ask there, so that what differs is due to the endpoints alone.
 */
export function translatedWithout(clusters: ReadonlySet<string>, { inputs }: Translation, options: TranslateOptions): Translation {
  return translate(withoutEndpoints(clusters, inputs), { ...options, stage: "networking" });
}

function withoutEndpoints(clusters: ReadonlySet<string>, inputs: Snapshot): Snapshot {
  const destinations = inputs.of(Destination);
  const changed = [...destinations].flatMap((destination) => {
    const { kubeService } = destination.spec ?? {};
    if (kubeService === undefined || !clusters.has(kubeService.ref?.clusterName ?? "")) return [];
    const { endpointSubsets: _, externalAddresses: __, ...rest } = kubeService;
    const without: Destination = { ...destination, spec: { ...destination.spec, kubeService: rest } };
    return [[keyOfResource(destination), without] as const];
  });
  return inputs.withCollection(Destination, destinations.with(changed));
}
