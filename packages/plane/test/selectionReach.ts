import { Settings } from "@isthmus/api";
import { type AnyResource, type Kind, refOf, resourceKeyOf } from "@isthmus/core";
import type { Translation } from "@isthmus/translators";
import { relayEffects } from "./schemaEffects.ts";
import { schemaFleet, translatedBesideFleet } from "./schemaFleet.ts";

/**
 * Everything that an object is about, or that may be done because of it, each as a text: more of them is wider. Requests that a route is
 * for, callers that a rule lets in, services without any rule, hosts that others may call, gateways that are open.
 */
export async function reachOf(kind: Kind, object: AnyResource, beside: readonly AnyResource[]): Promise<ReadonlySet<string>> {
  const parsed = kind.parse(object) as AnyResource;
  // All that there is, is what Settings let be.
  const without = kind === Settings ? new Map<string, AnyResource>() : outputsOf(translatedBesideFleet(beside));
  const translation = translatedBesideFleet([...beside, parsed]);
  const outputs = outputsOf(translation);
  const reached = new Set([...translation.discovery].map(({ resource }) => resourceKeyOf(refOf(resource))));
  for (const [key, output] of outputs) {
    // What is written alike without the object is not about it.
    const known = without.get(key);
    if (output.kind === "AuthorizationPolicy" || JSON.stringify(known) !== JSON.stringify(output))
      for (const part of partsOf(key, output)) reached.add(part);
  }
  const guarded = new Set([...outputs.values()].filter(({ kind: name }) => name === "AuthorizationPolicy").map(placeOf));
  for (const place of PLACES) if (!guarded.has(place)) reached.add(`${place} is open`);
  if (kind === Settings) for (const opening of await openings(parsed)) reached.add(opening);
  return reached;
}

// Where AccessPolicies and VirtualMeshes may write a rule.
const PLACES = schemaFleet()
  .filter(({ kind }) => kind === "Service")
  .map(placeOf)
  .concat("global-access-control istio-system east", "global-access-control istio-system west");

function placeOf({ metadata: { name, namespace, clusterName } }: AnyResource): string {
  return `${name} ${namespace} ${clusterName}`;
}

function outputsOf({ networking }: Translation): ReadonlyMap<string, AnyResource> {
  return new Map([...networking].map(({ resource }) => [resourceKeyOf(refOf(resource)), resource as AnyResource]));
}

function partsOf(key: string, output: AnyResource): readonly string[] {
  const {
    http = [],
    rules,
    ingress = [],
  } = (output["spec"] ?? {}) as {
    readonly ingress?: readonly object[];
    readonly http?: readonly { readonly match?: readonly object[] }[];
    readonly rules?: readonly object[];
  };
  if (output.kind === "AuthorizationPolicy") return (rules ?? []).map((rule) => `${key} ${JSON.stringify(rule)}`);
  if (output.kind === "CiliumNetworkPolicy") return ingress.map((rule) => `${key} ${JSON.stringify(rule)}`);
  if (output.kind !== "VirtualService") return [key];
  return http.flatMap(({ match, ...actions }) => {
    // A route that only passes requests on, as all would be without it, does nothing.
    if (Object.keys(actions).every((name) => name === "route" || name === "name")) return [];
    return (match ?? [{}]).map((one) => `${key} ${JSON.stringify(one)}`);
  });
}

/** What Settings open beside translation. */
async function openings(settings: AnyResource): Promise<readonly string[]> {
  const [told, , , registered, opens] = await relayEffects(settings);
  const { selectors } =
    (told as { readonly spec: { readonly discovery?: { readonly selectors?: readonly object[] } } }).spec.discovery ?? {};
  return [
    ...(registered === "registered" ? ["unknown clusters register"] : []),
    ...(opens === "ANY_NAME" ? ["any name is open"] : []),
    ...(selectors === undefined ? ["agents report all namespaces"] : []),
  ];
}
