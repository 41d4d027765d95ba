import { allKinds, IssuedCertificate, Secret, Settings } from "@isthmus/api";
import { type AnyResource, InvalidResource, type Kind, messageOf, snapshotOf } from "@isthmus/core";
import { insightsOf } from "@isthmus/insights";
import { simulatedCluster, virtualClock } from "@isthmus/simulator";
import { isInScope, type Translation } from "@isthmus/translators";
import { agentCertificateLifetimeMs, clusterRegistrations } from "../src/index.ts";
import { serverRoles } from "../src/roles.ts";
import { translatedBesideFleet } from "./schemaFleet.ts";

/** What comes of an object: what somebody carries out, and what is reported to its writer. */
export interface Effects {
  /** Whatever the loops act on, as text: equal texts are equal effects. */
  readonly carriedOut: string;
  /** What is reported, each as `STATE message`. */
  readonly told: readonly string[];
}

/** What comes of an object in the fleet, beside others. */
export async function effectsOf(kind: Kind, object: AnyResource, beside: readonly AnyResource[]): Promise<Effects> {
  let parsed: AnyResource;
  try {
    parsed = kind.parse(object) as AnyResource;
  } catch (error) {
    if (!(error instanceof InvalidResource)) throw error;
    return { carriedOut: "", told: [`INVALID ${messageOf(error)}`] };
  }
  const translation = translatedBesideFleet([...beside, parsed]);
  return {
    carriedOut: JSON.stringify([outputsOf(translation), kind === Settings ? [await relayEffects(parsed), suppressedBy(translation)] : []]),
    told: translation.reports.map(({ state, message }) => `${state} ${message}`),
  };
}

/** Which insights are not shown. */
function suppressedBy(translation: Translation): readonly string[] {
  const { byObject } = insightsOf(translation, { namespace: "gloo-mesh", now: 0 });
  return [...byObject].flatMap(({ suppressed }) => suppressed.map(({ insight, reason }) => `${insight.code} ${insight.message} ${reason}`));
}

/** What is written to clusters, and what of the discovered objects to the management cluster. */
function outputsOf(translation: Translation): readonly AnyResource[] {
  const published = [...translation.discovery].filter(({ resource }) => isInScope(translation, resource));
  return [...translation.networking, ...published]
    .map(({ resource }) => resource as AnyResource)
    .filter(({ kind }) => !ORDERS.includes(kind));
}

// Of certificates the status says until they are in force that they are not: an order for one, or the Secret of its root, is no effect.
const ORDERS = [IssuedCertificate.kind, Secret.kind];

/** What server and agents make of Settings beside translation. */
export async function relayEffects(settings: AnyResource): Promise<readonly unknown[]> {
  const snapshot = snapshotOf([settings]);
  const roles = serverRoles("gloo-mesh");
  const told = roles.settingsToTell(snapshot, "east");
  const cluster = simulatedCluster({ name: "", clock: virtualClock(), kinds: allKinds() });
  await cluster.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "gloo-mesh" } });
  await cluster.create(settings);
  const registrations = clusterRegistrations(cluster, { namespace: "gloo-mesh" });
  const registered = await registrations.register({ clusterName: "new", clusterUid: "1", isExpected: false }).then(
    () => "registered",
    () => "refused",
  );
  return [
    told,
    roles.agentQuota(snapshot, 8_000_000),
    agentCertificateLifetimeMs({ snapshot }, "gloo-mesh"),
    registered,
    await registrations.sharedTokenOpens(),
  ];
}
