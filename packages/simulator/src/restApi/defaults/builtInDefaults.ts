import { isMembers, type Members, membersAt } from "../../apply/json.ts";
import { filled, withChanged } from "./filled.ts";
import { podDefaults } from "./podDefaults.ts";
import {
  cronJobDefaults,
  daemonSetDefaults,
  deploymentDefaults,
  jobDefaults,
  replicaSetDefaults,
  statefulSetDefaults,
  storageDefaults,
  templateDefaults,
} from "./workloadDefaults.ts";

type Defaults = (content: Members) => Members;

const spec =
  (complete: Defaults): Defaults =>
  (content) => ({ ...content, spec: complete(membersAt(content, "spec")) });

const RBAC = "rbac.authorization.k8s.io";

const bindings: Defaults = (content) =>
  withChanged(filled(content, {}), {
    roleRef: (ref) => filled(ref, { apiGroup: RBAC }),
    subjects: (subject) => (subject["kind"] === "ServiceAccount" ? subject : filled(subject, { apiGroup: RBAC })),
  });

const webhooks: Defaults = (content) =>
  withChanged(content, {
    webhooks: (webhook) =>
      filled(
        withChanged(webhook, {
          clientConfig: (config) => withChanged(config, { service: (service) => filled(service, { port: 443 }) }),
          rules: (rule) => filled(rule, { scope: "*" }),
        }),
        { failurePolicy: "Fail", matchPolicy: "Equivalent", namespaceSelector: {}, objectSelector: {}, timeoutSeconds: 10 },
      ),
  });

const DEFAULTS: Readonly<Record<string, Defaults>> = {
  "/Pod": podDefaults,
  "/PodTemplate": (content) => ({ ...content, template: templateDefaults(membersAt(content, "template")) }),
  "/ReplicationController": replicaSetDefaults,
  "/Secret": secret,
  "/Namespace": (content) => ({
    ...content,
    spec: filled(membersAt(content, "spec"), { finalizers: ["kubernetes"] }),
    status: filled(membersAt(content, "status"), { phase: "Active" }),
  }),
  "/PersistentVolumeClaim": (content) => ({
    ...storageDefaults(content),
    status: filled(membersAt(content, "status"), { phase: "Pending" }),
  }),
  "/PersistentVolume": (content) => ({
    ...spec((each) => filled(each, { persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem" }))(content),
    status: filled(membersAt(content, "status"), { phase: "Pending" }),
  }),
  "/Endpoints": (content) =>
    withChanged(content, { subsets: (subset) => withChanged(subset, { ports: (port) => filled(port, { protocol: "TCP" }) }) }),
  "/LimitRange": spec((each) => withChanged(each, { limits: limitRangeItem })),
  "apps/Deployment": deploymentDefaults,
  "apps/ReplicaSet": replicaSetDefaults,
  "apps/StatefulSet": statefulSetDefaults,
  "apps/DaemonSet": daemonSetDefaults,
  "batch/Job": jobDefaults,
  "batch/CronJob": cronJobDefaults,
  "discovery.k8s.io/EndpointSlice": (content) => withChanged(content, { ports: (port) => filled(port, { name: "", protocol: "TCP" }) }),
  "networking.k8s.io/NetworkPolicy": spec((each) => {
    const types = ["Ingress", ...(Array.isArray(each["egress"]) && each["egress"].length > 0 ? ["Egress"] : [])];
    const port = (peer: Members) => withChanged(peer, { ports: (one) => filled(one, { protocol: "TCP" }) });
    return filled(withChanged(each, { ingress: port, egress: port }), { podSelector: {}, policyTypes: types });
  }),
  "policy/PodDisruptionBudget": (content) => content,
  "autoscaling/HorizontalPodAutoscaler": spec((each) => {
    const metric = { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } };
    const completed = filled(each, { minReplicas: 1 });
    const metrics = completed["metrics"];
    return Array.isArray(metrics) && metrics.length > 0 ? completed : { ...completed, metrics: [metric] };
  }),
  [`${RBAC}/RoleBinding`]: bindings,
  [`${RBAC}/ClusterRoleBinding`]: bindings,
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration": webhooks,
  "admissionregistration.k8s.io/MutatingWebhookConfiguration": (content) =>
    withChanged(webhooks(content), { webhooks: (each) => filled(each, { reinvocationPolicy: "Never" }) }),
  "scheduling.k8s.io/PriorityClass": (content) => filled(content, { preemptionPolicy: "PreemptLowerPriority" }),
  "storage.k8s.io/StorageClass": (content) => filled(content, { reclaimPolicy: "Delete", volumeBindingMode: "Immediate" }),
  "apiextensions.k8s.io/CustomResourceDefinition": spec((each) => {
    const names = membersAt(each, "names");
    const kind = String(names["kind"] ?? "");
    const version = (one: Members) => withChanged(one, { additionalPrinterColumns: (column) => column });
    return filled(
      withChanged(
        { ...each, names: filled(names, { singular: kind.toLowerCase(), listKind: kind === "" ? "" : `${kind}List` }) },
        { versions: version },
      ),
      {
        conversion: { strategy: "None" },
      },
    );
  }),
};

/** A built-in kind's content with what API servers fill in beside addresses. Source: the defaults.go files below pkg/apis of Kubernetes 1.34. */
export function builtInDefaults(kindKey: string, content: Members): Members {
  const complete = Object.hasOwn(DEFAULTS, kindKey) ? DEFAULTS[kindKey] : undefined;
  return complete === undefined ? content : complete(content);
}

function secret(content: Members): Members {
  const { stringData, ...rest } = content;
  const typed = filled(rest, { type: "Opaque" });
  if (!isMembers(stringData)) return typed;
  const encoded = Object.fromEntries(
    Object.entries(stringData).map(([key, value]) => [key, Buffer.from(String(value)).toString("base64")]),
  );
  return { ...typed, data: { ...membersAt(typed, "data"), ...encoded } };
}

function limitRangeItem(item: Members): Members {
  if (item["type"] !== "Container") return item;
  const withDefault = filled(item, item["max"] === undefined ? {} : { default: item["max"] });
  const requests = withDefault["default"] ?? withDefault["min"];
  return filled(withDefault, requests === undefined ? {} : { defaultRequest: requests });
}
