import { Type } from "@sinclair/typebox";
import { approvalFields } from "../shared/approval.ts";
import { defineKind } from "../shared/defineKind.ts";
import { fields, listOf, mapOf, oneOfWords, strings, userFields } from "../shared/schema.ts";

/** A cluster that is managed. Its name is the cluster name used everywhere. */
export const KubernetesCluster = defineKind({
  apiVersion: "multicluster.solo.io/v1alpha1",
  kind: "KubernetesCluster",
  plural: "kubernetesclusters",
  fields: {
    spec: userFields(
      {
        secretName: Type.String({ description: "Secret with a kubeconfig of the cluster; not needed where an agent runs." }),
        clusterDomain: Type.String({ description: "DNS domain of services in the cluster. Default cluster.local." }),
        providerInfo: userFields({}, { description: "What is known of the cloud provider." }),
      },
      { description: "How to reach the cluster." },
    ),
    status: fields({
      ...approvalFields,
      state: oneOfWords(["REGISTERED", "SYNCING", "CONNECTED", "LAGGING", "OFFLINE", "REVOKED", "UNREACHABLE"], {
        description:
          "REGISTERED: no agent has connected yet. SYNCING: the agent is connected and has not reported everything. CONNECTED: everything is known. " +
          "LAGGING: something wanted there is not acknowledged. OFFLINE: the agent is away. REVOKED: its certificates are. UNREACHABLE: " +
          "the kubeconfig Secret does not lead to it. The conditions say more.",
      }),
      clusterUid: Type.String({ description: "UID of the cluster's namespace kube-system: the cluster that this name belongs to." }),
      replaced: Type.String({ description: "Value of the annotation isthmus.mesh/replace that last let another cluster have this name." }),
      resumedDeletes: Type.String({ description: "Value of the annotation isthmus.mesh/resume-deletes that was last acted on." }),
      namespace: Type.String({ description: "Namespace of the agent in the cluster." }),
      policyRules: listOf(
        fields({
          verbs: strings(),
          apiGroups: strings(),
          resources: strings(),
          resourceNames: strings(),
          nonResourceUrls: strings(),
        }),
        { description: "What the management plane may do in the cluster." },
      ),
      agent: fields(
        {
          version: Type.String(),
          connected: Type.Boolean(),
          certificateNotAfter: Type.String({ format: "date-time" }),
          trustedRoots: Type.String({ description: "Names the set of roots that the agent trusts." }),
        },
        { description: "The agent, when one is known." },
      ),
      servedVersions: mapOf(strings(), { description: "API versions that the cluster serves, by API group." }),
    }),
  },
  crd: {
    description: "A cluster that is managed. Its name is the cluster name used everywhere.",
    categories: ["gloo-mesh"],
    singular: "kubernetescluster",
    printerColumns: [
      { name: "State", type: "string", jsonPath: ".status.state" },
      { name: "Agent", type: "string", jsonPath: ".status.agent.version" },
      { name: "Since", type: "date", jsonPath: '.status.conditions[?(@.type=="Connected")].lastTransitionTime' },
      { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    ],
  },
});

export type KubernetesCluster = ReturnType<typeof KubernetesCluster.parse>;
