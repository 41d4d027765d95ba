import { Type } from "@sinclair/typebox";
import type { Value } from "./defineKind.ts";
import { userClusterObjectRef, userObjectRef } from "./refs.ts";
import { listOf, stringMap, strings, userFields } from "./schema.ts";

const NOT_YET = "not supported yet, only Kubernetes services can be selected";

const kubeServiceMatcher = userFields(
  {
    labels: stringMap({ description: "Labels that the Service itself must have; all must match. Empty: any." }),
    namespaces: strings({ description: "Namespaces of the Service; one must match. Empty: any." }),
    clusters: strings({ description: "Clusters of the Service; one must match. Empty: any." }),
  },
  { description: "Selects Kubernetes services; all given fields must match. Default: it selects nothing." },
);

const externalMatcher = userFields({ labels: stringMap(), namespaces: strings() }, { unsupported: NOT_YET });

const SELECTS = "Selects destinations. An entry with several fields selects what any of them selects; an empty entry selects nothing.";

const services = {
  kubeServiceMatcher,
  kubeServiceRefs: userFields(
    {
      services: listOf(userClusterObjectRef(), { description: "Services by name, namespace and cluster. Each must exist. Empty: none." }),
    },
    { description: "Selects Kubernetes services by name." },
  ),
  externalServiceMatcher: externalMatcher,
  externalServiceRefs: userFields({ externalServices: listOf(userObjectRef()) }, { unsupported: NOT_YET }),
};

/** Which Destinations. */
export const destinationSelector = userFields(
  {
    ...services,
    virtualDestinationMatcher: externalMatcher,
    virtualDestinationRefs: userFields({ virtualDestinations: listOf(userObjectRef()) }, { unsupported: NOT_YET }),
  },
  { description: SELECTS },
);

/** Which Destinations, and which VirtualDestinations: for policies. */
export const policyDestinationSelector = userFields(
  {
    ...services,
    virtualDestinationMatcher: userFields(
      {
        labels: stringMap({ description: "Labels that the VirtualDestination must have; all must match. Empty: any." }),
        namespaces: strings({ description: "Namespaces of the VirtualDestination; one must match. Empty: any." }),
      },
      { description: "Selects VirtualDestinations of the management cluster; all given fields must match. Default: it selects nothing." },
    ),
    virtualDestinationRefs: userFields(
      {
        virtualDestinations: listOf(userObjectRef(), {
          description: "VirtualDestinations of the management cluster, by name and namespace. Each must exist. Empty: none.",
        }),
      },
      { description: "Selects VirtualDestinations by name." },
    ),
  },
  { description: `${SELECTS} An empty list selects no VirtualDestination.` },
);

export type DestinationSelector = Value<typeof destinationSelector>;

/** Which workloads traffic comes from. */
export const workloadSelector = userFields(
  {
    kubeWorkloadMatcher: userFields(
      {
        labels: stringMap({ description: "Labels that the pods must have; all must match. Empty: any." }),
        namespaces: strings({ description: "Namespaces of the workload; one must match. Empty: any." }),
        clusters: strings({ description: "Clusters of the workload; one must match. Empty: any." }),
      },
      { description: "Selects Kubernetes workloads; all given fields must match." },
    ),
  },
  { description: "Selects workloads. An empty entry selects every workload." },
);

export type WorkloadSelector = Value<typeof workloadSelector>;

const serviceAccount = userFields({
  name: Type.String({ description: "Name of the service account. Empty: any." }),
  namespace: Type.String({ description: "Namespace of the service account. Empty: any." }),
  clusterName: Type.String({ description: "Cluster of the service account. Empty: any." }),
});

/** Which identities traffic comes from. */
export const identitySelector = userFields(
  {
    kubeIdentityMatcher: userFields(
      {
        namespaces: strings({ description: "Namespaces of the caller; one must match. Empty: any." }),
        clusters: strings({ description: "Clusters of the caller; one must match. Empty: any." }),
      },
      { description: "Selects callers by namespace and cluster. Default: it selects nothing." },
    ),
    kubeServiceAccountRefs: userFields(
      {
        serviceAccounts: listOf(serviceAccount, { description: "Service accounts. Empty: none." }),
      },
      { description: "Selects callers by their service account. Default: it selects nothing." },
    ),
    requestIdentityMatcher: userFields(
      { requestPrincipals: strings(), notRequestPrincipals: strings() },
      { unsupported: "not supported, callers are identified by workload identity, not by a token of the request" },
    ),
  },
  { description: "Selects callers. An entry with both fields selects what either selects; an empty entry selects all callers." },
);

export type IdentitySelector = Value<typeof identitySelector>;
