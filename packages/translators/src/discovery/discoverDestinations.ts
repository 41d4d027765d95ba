import type { Destination } from "@isthmus/api";
import { derived } from "../incremental/derived.ts";
import { translateDestination } from "./destinations.ts";
import { type DiscoveryRow, discoveryRow } from "./discoveryResult.ts";
import { podsOfNoWorkload } from "./podsOfNoWorkload.ts";
import { serviceJoins, services } from "./serviceJoins.ts";
import { discoveredServiceInputs } from "./services.ts";
import { isInDiscoveryScope } from "./sources.ts";

/** What comes of every Service. */
export const discoveredDestinations = derived({
  from: services,
  context: ({ context }) => context,
  joins: serviceJoins,
  make: (service, { key, lookup, context, before }): DiscoveryRow<Destination> | undefined => {
    const [meshScope] = lookup("meshScope");
    if (!isInDiscoveryScope(service, context, { meshScope, namespace: () => lookup("namespace")[0] })) return undefined;
    const inputs = discoveredServiceInputs(service, { lookup, owner: context.owner, namespace: context.options.namespace });
    if (inputs !== undefined) return discoveryRow(key, service, translateDestination(inputs), before);
    const hasSelector = Object.keys(service.spec?.selector ?? {}).length > 0;
    const report = hasSelector ? podsOfNoWorkload(service, lookup("pods")) : undefined;
    return report && discoveryRow<Destination>(key, service, { reports: [report] }, before);
  },
});
