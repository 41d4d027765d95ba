import type { Value } from "./defineKind.ts";
import { userClusterObjectRef, userObjectRef } from "./refs.ts";
import { listOf, stringMap, strings, userFields } from "./schema.ts";

const NOT_YET = "not supported yet, only Kubernetes services can be selected";

const kubeServiceMatcher = userFields(
  {
    labels: stringMap({ description: "All of these labels must be on the Service itself. Empty: any." }),
    namespaces: strings({ description: "The Service must be in one of these namespaces. Empty: any." }),
    clusters: strings({ description: "The Service must be in one of these clusters. Empty: any." }),
  },
  { description: "Selects Kubernetes services by what is given; all of it must hold." },
);

const externalMatcher = userFields({ labels: stringMap(), namespaces: strings() }, { unsupported: NOT_YET });

/** Which Destinations. */
export const destinationSelector = userFields(
  {
    kubeServiceMatcher,
    kubeServiceRefs: userFields(
      {
        services: listOf(userClusterObjectRef(), { description: "Services by name, namespace and cluster; each must exist." }),
      },
      { description: "Selects Kubernetes services by name." },
    ),
    externalServiceMatcher: externalMatcher,
    externalServiceRefs: userFields({ externalServices: listOf(userObjectRef()) }, { unsupported: NOT_YET }),
    virtualDestinationMatcher: externalMatcher,
    virtualDestinationRefs: userFields({ virtualDestinations: listOf(userObjectRef()) }, { unsupported: NOT_YET }),
  },
  { description: "Selects destinations. An entry with several members selects what any of them selects; one with none selects nothing." },
);

export type DestinationSelector = Value<typeof destinationSelector>;

/** Which workloads traffic comes from. */
export const workloadSelector = userFields(
  {
    kubeWorkloadMatcher: userFields(
      {
        labels: stringMap({ description: "All of these labels must be on the pods. Empty: any." }),
        namespaces: strings({ description: "The workload must be in one of these namespaces. Empty: any." }),
        clusters: strings({ description: "The workload must be in one of these clusters. Empty: any." }),
      },
      { description: "Selects Kubernetes workloads by what is given; all of it must hold." },
    ),
  },
  { description: "Selects workloads. An empty entry selects every workload." },
);

export type WorkloadSelector = Value<typeof workloadSelector>;

/** Which identities traffic comes from. */
export const identitySelector = userFields(
  {
    kubeIdentityMatcher: userFields(
      {
        namespaces: strings({ description: "The caller must be in one of these namespaces. Empty: any." }),
        clusters: strings({ description: "The caller must be in one of these clusters. Empty: any." }),
      },
      { description: "Selects callers by where they run." },
    ),
    kubeServiceAccountRefs: userFields(
      {
        serviceAccounts: listOf(userClusterObjectRef(), {
          description: "Service accounts. An empty name, namespace or clusterName stands for any.",
        }),
      },
      { description: "Selects callers by their service account." },
    ),
    requestIdentityMatcher: userFields(
      { requestPrincipals: strings(), notRequestPrincipals: strings() },
      { unsupported: "not supported, callers are known by their workload identity, not by a token of the request" },
    ),
  },
  { description: "Selects callers. An entry with both members selects what either selects; an empty entry selects every caller." },
);

export type IdentitySelector = Value<typeof identitySelector>;
