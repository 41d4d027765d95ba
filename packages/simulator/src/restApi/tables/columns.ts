import type { Members } from "../../apply/json.ts";

// Names of columns as kube-apiserver 1.34 answers them; (i), (b), (d): of integers, booleans, moments; * shows in wide tables alone.
const COLUMNS: Readonly<Record<string, string>> = {
  "/componentstatuses": "Name Status Message Error",
  "/configmaps": "Name Data Age",
  "/endpoints": "Name Endpoints Age",
  "/events": "Last_Seen Type Reason Object Subobject* Source* Message First_Seen* Count* Name*",
  "/limitranges": "Name Created_At(d)",
  "/namespaces": "Name Status Age",
  "/nodes": "Name Status Roles Age Version Internal-IP* External-IP* OS-Image* Kernel-Version* Container-Runtime*",
  "/persistentvolumeclaims": "Name Status Volume Capacity Access_Modes StorageClass VolumeAttributesClass Age VolumeMode*",
  "/persistentvolumes": "Name Capacity Access_Modes Reclaim_Policy Status Claim StorageClass VolumeAttributesClass Reason Age VolumeMode*",
  "/pods": "Name Ready Status Restarts Age IP* Node* Nominated_Node* Readiness_Gates*",
  "/podtemplates": "Name Containers Images Pod_Labels",
  "/replicationcontrollers": "Name Desired(i) Current(i) Ready(i) Age Containers* Images* Selector*",
  "/resourcequotas": "Name Request Limit Age",
  "/secrets": "Name Type Data Age",
  "/serviceaccounts": "Name Secrets Age",
  "/services": "Name Type Cluster-IP External-IP Port(s) Age Selector*",
  "apiregistration.k8s.io/apiservices": "Name Service Available Age",
  "apps/controllerrevisions": "Name Controller Revision Age",
  "apps/daemonsets": "Name Desired(i) Current(i) Ready(i) Up-to-date(i) Available(i) Node_Selector Age Containers* Images* Selector*",
  "apps/deployments": "Name Ready Up-to-date Available Age Containers* Images* Selector*",
  "apps/replicasets": "Name Desired(i) Current(i) Ready(i) Age Containers* Images* Selector*",
  "apps/statefulsets": "Name Ready Age Containers* Images*",
  "autoscaling/horizontalpodautoscalers": "Name Reference Targets MinPods MaxPods Replicas Age",
  "batch/cronjobs": "Name Schedule Timezone Suspend(b) Active(i) Last_Schedule Age Containers* Images* Selector*",
  "batch/jobs": "Name Status Completions Duration Age Containers* Images* Selector*",
  "networking.k8s.io/ingressclasses": "Name Controller Parameters Age",
  "networking.k8s.io/ingresses": "Name Class Hosts Address Ports Age",
  "networking.k8s.io/networkpolicies": "Name Pod-Selector Age",
  "networking.k8s.io/servicecidrs": "Name CIDRs Age",
  "policy/poddisruptionbudgets": "Name Min_Available Max_Unavailable Allowed_Disruptions(i) Age",
  "rbac.authorization.k8s.io/clusterrolebindings": "Name Role Age Users* Groups* ServiceAccounts*",
  "rbac.authorization.k8s.io/clusterroles": "Name Created_At(d)",
  "rbac.authorization.k8s.io/rolebindings": "Name Role Age Users* Groups* ServiceAccounts*",
  "rbac.authorization.k8s.io/roles": "Name Created_At(d)",
  "storage.k8s.io/storageclasses": "Name Provisioner ReclaimPolicy VolumeBindingMode AllowVolumeExpansion Age",
  "admissionregistration.k8s.io/mutatingwebhookconfigurations": "Name Webhooks(i) Age",
  "admissionregistration.k8s.io/validatingwebhookconfigurations": "Name Webhooks(i) Age",
  "apiextensions.k8s.io/customresourcedefinitions": "Name Created_At(d)",
  "scheduling.k8s.io/priorityclasses": "Name Value(i) Global-Default(b) Age PreemptionPolicy",
  "coordination.k8s.io/leases": "Name Holder Age",
  "node.k8s.io/runtimeclasses": "Name Handler Age",
  "discovery.k8s.io/endpointslices": "Name AddressType Ports Endpoints Age",
};

const TYPES: Readonly<Record<string, string>> = { i: "integer", b: "boolean", d: "date" };
const FORM = /^(.+?)(?:\(([ibd])\))?(\*)?$/;

/** The columns of a built-in kind, as a Table's `columnDefinitions`; those of kinds that have none of their own are Name and Age. */
export function builtInColumns(group: string, plural: string): readonly Members[] {
  return (COLUMNS[`${group}/${plural}`] ?? "Name Age").split(" ").map((text) => {
    const [, name = "", type = "", wide] = FORM.exec(text) ?? [];
    return {
      name: name.replaceAll("_", " "),
      type: TYPES[type] ?? "string",
      format: name === "Name" && wide === undefined ? "name" : "",
      description: "",
      priority: wide === undefined ? 0 : 1,
    };
  });
}
