import type { Members } from "../../apply/json.ts";
import { ageSince, humanDuration } from "./ages.ts";
import { at, containerCells, labelsText, listAt, numberAt, selectorText, textAt } from "./cells.ts";
import { endpointSliceCells, endpointsCells, eventCells, nodeCells, podCells, serviceCells } from "./longRows.ts";

type Cells = (object: Members, now: number) => readonly unknown[];

const age = (object: Members, now: number) => ageSince(at(object, "metadata.creationTimestamp"), now);
const name = (object: Members) => textAt(object, "metadata.name");
const created = (object: Members) => at(object, "metadata.creationTimestamp") ?? null;

const replicated = (object: Members, now: number) => [
  name(object),
  numberAt(object, "spec.replicas"),
  numberAt(object, "status.replicas"),
  numberAt(object, "status.readyReplicas"),
  age(object, now),
  ...containerCells(at(object, "spec.template.spec")),
];

const binding: Cells = (object, now) => {
  const subjects = listAt(object, "subjects");
  const named = (kind: string) => subjects.filter((subject) => subject["kind"] === kind).map((subject) => String(subject["name"]));
  const accounts = subjects
    .filter(({ kind }) => kind === "ServiceAccount")
    .map((each) => `${String(each["namespace"] ?? "")}/${String(each["name"])}`);
  return [
    name(object),
    `${textAt(object, "roleRef.kind")}/${textAt(object, "roleRef.name")}`,
    age(object, now),
    named("User").join(", "),
    named("Group").join(", "),
    accounts.join(", "),
  ];
};

const webhooks: Cells = (object, now) => [name(object), listAt(object, "webhooks").length, age(object, now)];
const withCreation: Cells = (object) => [name(object), created(object)];

const ROWS: Readonly<Record<string, Cells>> = {
  "/configmaps": (object, now) => [name(object), String(members(object["data"]) + members(object["binaryData"])), age(object, now)],
  "/secrets": (object, now) => [name(object), textAt(object, "type"), String(members(object["data"])), age(object, now)],
  "/serviceaccounts": (object, now) => [name(object), String(listAt(object, "secrets").length), age(object, now)],
  "/namespaces": (object, now) => [name(object), textAt(object, "status.phase"), age(object, now)],
  "/limitranges": withCreation,
  "/endpoints": endpointsCells,
  "/events": eventCells,
  "/nodes": nodeCells,
  "/pods": podCells,
  "/services": serviceCells,
  "/podtemplates": (object) => [
    name(object),
    ...containerCells(at(object, "template.spec")),
    labelsText(at(object, "template.metadata.labels")),
  ],
  "/replicationcontrollers": (object, now) => [...replicated(object, now), labelsText(at(object, "spec.selector"))],
  "/resourcequotas": (object, now) => [
    name(object),
    quotaText(object, /^requests\.|^[^.]+$|^(?!limits)/),
    quotaText(object, /^limits\./),
    age(object, now),
  ],
  "/persistentvolumeclaims": (object, now) => [
    name(object),
    object["metadata"] !== undefined && at(object, "metadata.deletionTimestamp") !== undefined
      ? "Terminating"
      : textAt(object, "status.phase"),
    textAt(object, "spec.volumeName"),
    textAt(object, "status.capacity.storage"),
    "",
    textAt(object, "spec.storageClassName"),
    textAt(object, "spec.volumeAttributesClassName", "<unset>"),
    age(object, now),
    textAt(object, "spec.volumeMode"),
  ],
  "apps/deployments": (object, now) => [
    name(object),
    `${numberAt(object, "status.readyReplicas")}/${numberAt(object, "spec.replicas")}`,
    String(numberAt(object, "status.updatedReplicas")),
    String(numberAt(object, "status.availableReplicas")),
    age(object, now),
    ...containerCells(at(object, "spec.template.spec")),
    selectorText(at(object, "spec.selector")),
  ],
  "apps/replicasets": (object, now) => [...replicated(object, now), selectorText(at(object, "spec.selector"))],
  "apps/statefulsets": (object, now) => [
    name(object),
    `${numberAt(object, "status.readyReplicas")}/${numberAt(object, "spec.replicas")}`,
    age(object, now),
    ...containerCells(at(object, "spec.template.spec")),
  ],
  "apps/daemonsets": (object, now) => [
    name(object),
    ...["desiredNumberScheduled", "currentNumberScheduled", "numberReady", "updatedNumberScheduled", "numberAvailable"].map((field) =>
      numberAt(object, `status.${field}`),
    ),
    labelsText(at(object, "spec.template.spec.nodeSelector")),
    age(object, now),
    ...containerCells(at(object, "spec.template.spec")),
    selectorText(at(object, "spec.selector")),
  ],
  "apps/controllerrevisions": (object, now) => {
    const owner = listAt(object, "metadata.ownerReferences").find(({ controller }) => controller === true);
    const controller = owner === undefined ? "<none>" : `${kindWithGroup(owner)}/${String(owner["name"])}`;
    return [name(object), controller, String(numberAt(object, "revision")), age(object, now)];
  },
  "batch/jobs": jobCells,
  "batch/cronjobs": (object, now) => [
    name(object),
    textAt(object, "spec.schedule"),
    textAt(object, "spec.timeZone", "<none>"),
    at(object, "spec.suspend") === true ? "True" : "False",
    listAt(object, "status.active").length,
    at(object, "status.lastScheduleTime") === undefined ? "<none>" : ageSince(at(object, "status.lastScheduleTime"), now),
    age(object, now),
    ...containerCells(at(object, "spec.jobTemplate.spec.template.spec")),
    selectorText(at(object, "spec.jobTemplate.spec.selector")),
  ],
  "autoscaling/horizontalpodautoscalers": (object, now) => [
    name(object),
    `${textAt(object, "spec.scaleTargetRef.kind")}/${textAt(object, "spec.scaleTargetRef.name")}`,
    hpaTargets(object),
    at(object, "spec.minReplicas") === undefined ? "<unset>" : textAt(object, "spec.minReplicas"),
    textAt(object, "spec.maxReplicas"),
    textAt(object, "status.currentReplicas", "0"),
    age(object, now),
  ],
  "networking.k8s.io/ingresses": (object, now) => {
    const rules = listAt(object, "spec.rules").map(({ host }) => (host === undefined || host === "" ? "*" : String(host)));
    const addresses = listAt(object, "status.loadBalancer.ingress").map((each) => String(each["ip"] ?? each["hostname"] ?? ""));
    return [
      name(object),
      textAt(object, "spec.ingressClassName", "<none>"),
      rules.length === 0 ? "*" : rules.length > 3 ? `${rules.slice(0, 3).join(",")} + ${rules.length - 3} more...` : rules.join(","),
      addresses.join(","),
      listAt(object, "spec.tls").length > 0 ? "80, 443" : "80",
      age(object, now),
    ];
  },
  "networking.k8s.io/ingressclasses": (object, now) => [
    name(object),
    textAt(object, "spec.controller"),
    textAt(object, "spec.parameters.name", "<none>"),
    age(object, now),
  ],
  "networking.k8s.io/networkpolicies": (object, now) => [name(object), selectorText(at(object, "spec.podSelector")), age(object, now)],
  "networking.k8s.io/servicecidrs": (object, now) => [
    name(object),
    ((at(object, "spec.cidrs") ?? []) as readonly string[]).join(","),
    age(object, now),
  ],
  "policy/poddisruptionbudgets": (object, now) => [
    name(object),
    textAt(object, "spec.minAvailable", "N/A"),
    textAt(object, "spec.maxUnavailable", "N/A"),
    numberAt(object, "status.disruptionsAllowed"),
    age(object, now),
  ],
  "rbac.authorization.k8s.io/roles": withCreation,
  "rbac.authorization.k8s.io/clusterroles": withCreation,
  "rbac.authorization.k8s.io/rolebindings": binding,
  "rbac.authorization.k8s.io/clusterrolebindings": binding,
  "apiextensions.k8s.io/customresourcedefinitions": withCreation,
  "admissionregistration.k8s.io/mutatingwebhookconfigurations": webhooks,
  "admissionregistration.k8s.io/validatingwebhookconfigurations": webhooks,
  "coordination.k8s.io/leases": (object, now) => [name(object), textAt(object, "spec.holderIdentity"), age(object, now)],
  "node.k8s.io/runtimeclasses": (object, now) => [name(object), textAt(object, "handler"), age(object, now)],
  "discovery.k8s.io/endpointslices": endpointSliceCells,
  "scheduling.k8s.io/priorityclasses": (object, now) => [
    name(object),
    numberAt(object, "value"),
    at(object, "globalDefault") === true,
    age(object, now),
    textAt(object, "preemptionPolicy"),
  ],
  "storage.k8s.io/storageclasses": (object, now) => [
    at(object, "metadata.annotations.storageclass.kubernetes.io/is-default-class") === "true" ? `${name(object)} (default)` : name(object),
    textAt(object, "provisioner"),
    textAt(object, "reclaimPolicy", "Delete"),
    textAt(object, "volumeBindingMode", "Immediate"),
    at(object, "allowVolumeExpansion") === true,
    age(object, now),
  ],
};

/** The cells of a built-in kind's row. */
export function builtInCells(group: string, plural: string, object: Members, now: number): readonly unknown[] {
  return (ROWS[`${group}/${plural}`] ?? ((each, at) => [name(each), age(each, at)]))(object, now);
}

function members(value: unknown): number {
  return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
}

function kindWithGroup({ apiVersion, kind }: Members): string {
  const group = String(apiVersion).includes("/") ? `.${String(apiVersion).split("/")[0]}` : "";
  return `${String(kind).toLowerCase()}${group}`;
}

function quotaText(object: Members, names: RegExp): string {
  const hard = (at(object, "status.hard") ?? at(object, "spec.hard") ?? {}) as Members;
  return Object.keys(hard)
    .sort()
    .filter((each) => names.test(each) && (names.source.startsWith("^limits") || !each.startsWith("limits.")))
    .map(
      (each) =>
        `${each}: ${textAt(object, "status.used") === "" ? "0" : String(((at(object, "status.used") ?? {}) as Members)[each] ?? "0")}/${String(hard[each])}`,
    )
    .join(", ");
}

function jobCells(object: Members, now: number): readonly unknown[] {
  const completions = at(object, "spec.completions");
  const parallelism = numberAt(object, "spec.parallelism");
  const succeeded = numberAt(object, "status.succeeded");
  const done =
    typeof completions === "number"
      ? `${succeeded}/${completions}`
      : parallelism > 1
        ? `${succeeded}/1 of ${parallelism}`
        : `${succeeded}/1`;
  const conditions = listAt(object, "status.conditions");
  const has = (type: string) => conditions.some((condition) => condition["type"] === type && condition["status"] === "True");
  const status = has("Complete")
    ? "Complete"
    : has("Failed")
      ? "Failed"
      : at(object, "metadata.deletionTimestamp") !== undefined
        ? "Terminating"
        : has("Suspended")
          ? "Suspended"
          : has("FailureTarget")
            ? "FailureTarget"
            : has("SuccessCriteriaMet")
              ? "SuccessCriteriaMet"
              : "Running";
  const started = at(object, "status.startTime");
  const ended = at(object, "status.completionTime");
  const duration =
    typeof started !== "string" ? "" : humanDuration((typeof ended === "string" ? Date.parse(ended) : now) - Date.parse(started));
  return [
    name(object),
    status,
    done,
    duration,
    age(object, now),
    ...containerCells(at(object, "spec.template.spec")),
    selectorText(at(object, "spec.selector")),
  ];
}

function hpaTargets(object: Members): string {
  const metrics = listAt(object, "spec.metrics").map((metric) => {
    const { type } = metric;
    if (type === "Resource" || type === "ContainerResource") {
      const source = type === "Resource" ? "resource" : "containerResource";
      const resource = textAt(metric, `${source}.name`);
      const utilization = at(metric, `${source}.target.averageUtilization`);
      return utilization === undefined
        ? `${resource}: <unknown>/${textAt(metric, `${source}.target.averageValue`, "<auto>")}`
        : `${resource}: <unknown>/${String(utilization)}%`;
    }
    return "<unknown>/<auto>";
  });
  if (metrics.length === 0) return "<none>";
  return metrics.length > 2 ? `${metrics.slice(0, 2).join(", ")} + ${metrics.length - 2} more...` : metrics.join(", ");
}
