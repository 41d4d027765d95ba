import { Type } from "@sinclair/typebox";
import { approvalFields } from "../shared/approval.ts";
import { defineKind } from "../shared/defineKind.ts";
import { fields, listOf, mapOf, oneOfWords, strings, uint32, userFields } from "../shared/schema.ts";

const agentService = fields(
  {
    name: Type.String({ description: "Name of the Service in the namespace of the agent. Empty: it has none." }),
    grpcPort: uint32({ description: "Port of access logs and Wasm filters." }),
    httpPort: uint32({ description: "HTTP port, with legacyNames." }),
  },
  { description: "The Service by which proxies of the cluster reach the agent. Absent for an agent that does not report it." },
);

/** A cluster that is managed. Its name is the cluster name used everywhere. */
export const KubernetesCluster = defineKind({
  apiVersion: "multicluster.solo.io/v1alpha1",
  kind: "KubernetesCluster",
  plural: "kubernetesclusters",
  fields: {
    spec: userFields(
      {
        secretName: Type.String({
          description: "Secret with a kubeconfig of the cluster. Not needed if an agent runs in the cluster. Empty: none.",
        }),
        clusterDomain: Type.String({ description: "DNS domain of the cluster. Default: `cluster.local`." }),
        trustDomain: Type.String({
          description:
            "The trust domain that its Istio meshes have. Empty: the one that they were first seen with. A mesh that names another one keeps the last " +
            "known one until this says the new one, because AccessPolicies name callers by it.",
        }),
        systemNamespaces: strings({
          description:
            "More namespaces of the cluster in which no tenant runs pods: control planes, Cilium, and gateways for traffic between clusters count there. Without them: gloo-mesh, gloo-mesh-gateways, " +
            "istio-egress, istio-gateway, istio-gateways, istio-ingress, istio-system, kube-system, and those that the webhooks of meshes name. Where neither webhooks nor this name any, all count. " +
            "Default: none.",
          maxItems: 64,
        }),
        removed: strings({
          description:
            "NAMESPACE/NAME of control planes, and of Cilium, that were removed from the cluster on purpose: what policies wrote for them is then deleted. Without it that stays, as a user who may " +
            "delete a Deployment would take access rules away. No effect on what is there. Default: none.",
          maxItems: 64,
        }),
        // Not an enum: a word of a later version must be read, as it means that nothing may be written.
        mode: Type.String({
          description:
            "What is written in the cluster. manage (the default): everything. observe: nothing except managedObjects; status.comparison shows " +
            "what would be written, and its services are not federated to other clusters. freeze: nothing; what exists stays as it is.",
          "x-kubernetes-validations": [
            { rule: "self in ['manage', 'observe', 'freeze']", message: "spec.mode must be manage, observe or freeze" },
          ],
        }),
        managedObjects: listOf(
          userFields({
            kind: Type.String({ description: "Kind of the objects, such as VirtualService. * is any. Required." }),
            namespace: Type.String({ description: "Namespace of the objects. * is any. Required." }),
            name: Type.String({ description: "Name of the object. * is any. Required." }),
          }),
          {
            description: "Objects that are written although the mode is observe, to switch over step by step. Empty: none.",
            // So many fit into one message of the relay, whatever they are named.
            maxItems: 256,
          },
        ),
        providerInfo: userFields({}, { description: "Information about the cloud provider." }),
      },
      { description: "How to connect to the cluster." },
    ),
    status: fields({
      ...approvalFields,
      state: oneOfWords(["REGISTERED", "SYNCING", "CONNECTED", "LAGGING", "OFFLINE", "REVOKED", "UNREACHABLE"], {
        description:
          "REGISTERED: no agent has connected yet. SYNCING: the agent is connected and its first full sync is not complete. CONNECTED: synced. " +
          "LAGGING: changes of the desired state are not acknowledged. OFFLINE: the agent is not connected. REVOKED: its certificates are revoked. UNREACHABLE: " +
          "the management server cannot connect with the kubeconfig Secret. See the conditions for details.",
      }),
      clusterUid: Type.String({ description: "UID of the kube-system namespace of the cluster that owns this name." }),
      replaced: Type.String({
        description: "Value of the annotation isthmus.mesh/replace that was last used to give this name to another cluster.",
      }),
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
        { description: "Permissions of the management plane in the cluster." },
      ),
      agent: fields(
        {
          version: Type.String(),
          connected: Type.Boolean(),
          certificateNotAfter: Type.String({ format: "date-time" }),
          service: agentService,
          trustedRoots: Type.String({ description: "Identifier of the set of root certificates that the agent trusts." }),
        },
        { description: "The agent, if one is known." },
      ),
      lag: fields(
        {
          since: Type.String({
            format: "date-time",
            description: "When the oldest change was desired that the agent has not acknowledged.",
          }),
          changes: uint32({ description: "At least so many changes wait: 1, 10, 100 and so on." }),
        },
        { description: "How far the cluster is behind what is desired. Absent for the first 30 seconds, and if nothing waits." },
      ),
      mode: Type.String({ description: "The mode that the agent acknowledged last; manage of an agent that does not support modes." }),
      comparison: fields(
        {
          mode: Type.String({ description: "The mode that the agent has acknowledged." }),
          same: uint32({ description: "Number of objects that are in the cluster as desired." }),
          wouldCreate: uint32({ description: "Number of objects that would be created." }),
          wouldChange: uint32({ description: "Number of our objects that would be changed." }),
          wouldDelete: uint32({ description: "Number of our objects that would be deleted." }),
          conflicts: uint32({ description: "Number of objects that exist and are managed by others: they would not be written." }),
          examples: strings({ description: "The first of them, each with the fields that differ. /pending of the admin port lists more." }),
        },
        { description: "What would be written in a cluster that is observed or frozen, compared with what exists there." },
      ),
      cilium: fields(
        {
          version: Type.String({ description: "Version of Cilium." }),
          clusterName: Type.String({ description: "Name of the cluster in Cilium." }),
          enforcement: Type.String({ description: "Enforcement mode of policies: default, always or never." }),
          l7Proxy: Type.Boolean({ description: "Whether rules for HTTP are available." }),
          clusterMesh: Type.Boolean({ description: "Whether the cluster takes part in a Cilium Cluster Mesh." }),
        },
        { description: "Cilium in the cluster. Absent if it was not found beside a mesh; the Mesh says more of it." },
      ),
      trustDomains: strings({
        description:
          "Trust domains that the Istio meshes of the cluster have. A mesh that names another one keeps these until spec.trustDomain says the new one, also after its Mesh was withdrawn and the server restarted.",
        maxItems: 64,
      }),
      servedVersions: mapOf(strings(), { description: "API versions that the cluster serves, by API group." }),
    }),
  },
  crd: {
    description: "A managed cluster. Its name is used as the cluster name in all other resources.",
    categories: ["gloo-mesh"],
    singular: "kubernetescluster",
    printerColumns: [
      { name: "State", type: "string", jsonPath: ".status.state" },
      { name: "Mode", type: "string", jsonPath: ".status.mode", priority: 1 },
      { name: "Agent", type: "string", jsonPath: ".status.agent.version" },
      { name: "Since", type: "date", jsonPath: '.status.conditions[?(@.type=="Connected")].lastTransitionTime' },
      { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    ],
  },
});

export type KubernetesCluster = ReturnType<typeof KubernetesCluster.parse>;
