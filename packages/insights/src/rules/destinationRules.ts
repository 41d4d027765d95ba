import {
  DaemonSet,
  Deployment,
  Destination,
  DestinationRule,
  Pod,
  Service,
  ServiceEntry,
  StatefulSet,
  VirtualService,
  Workload,
} from "@isthmus/api";
import { formatRef, type Index, matchesLabels, nearestName, type Resource, refOf } from "@isthmus/core";
import { defineRule, lookUp, lookUpPart, type RuleFinding } from "../rule.ts";
import {
  byEntryHost,
  byFederatedHost,
  byNameInCluster,
  byPlace,
  byWorkloadPlace,
  hostKey,
  isInCluster,
  isWithoutNamespace,
  itsRegistration,
  nearService,
  serviceKey,
  serviceOfHost,
  wildcardKeys,
} from "./places.ts";

const byHost: Index<DestinationRule> = (rule) => [hostKey(rule.spec?.host, rule)];

interface SubsetName {
  readonly path: string;
  readonly host: string;
  readonly subset: string;
}

function subsetsNamed({ spec }: VirtualService): readonly SubsetName[] {
  return (["http", "tls", "tcp"] as const).flatMap((protocol) =>
    (spec?.[protocol] ?? []).flatMap(({ route = [] }, i) =>
      route.flatMap(({ destination: { host = "", subset = "" } = {} }, j) =>
        subset === "" ? [] : [{ path: `spec.${protocol}[${i}].route[${j}].destination.subset`, host, subset }],
      ),
    ),
  );
}

const hostsWithSubsets: Index<VirtualService> = (object) => [
  ...new Set(subsetsNamed(object).flatMap(({ host }) => [hostKey(host, object), ...wildcardKeys(host, object)])),
];

/** CFG0001. */
export const subsetNowhere = defineRule({
  code: "CFG0001",
  of: VirtualService,
  reads: { rules: lookUp(DestinationRule, { key: hostsWithSubsets, index: byHost }) },
  find: (object, { lookup }) =>
    subsetsNamed(object).flatMap(({ path, host, subset }): readonly RuleFinding[] => {
      const keys = [hostKey(host, object), ...wildcardKeys(host, object)];
      // The one for the host itself comes before those for wildcards.
      const rules = keys.map((key) => lookup("rules").filter((rule) => byHost(rule).includes(key))).find((some) => some.length > 0) ?? [];
      const names = rules.flatMap(({ spec }) => spec?.subsets ?? []).flatMap(({ name }) => name ?? []);
      if (names.includes(subset)) return [];
      const message =
        rules.length === 0
          ? `no DestinationRule defines subset ${subset}, as none is for host ${host}`
          : `no DestinationRule for host ${host} defines subset ${subset}${names.length === 0 ? "" : `, only ${names.join(", ")}`}`;
      return [
        {
          field: path,
          message,
          remedy: "define the subset in a DestinationRule, or correct its name",
          nearMiss: nearestName(subset, names),
        },
      ];
    }),
});

const serviceNamed: Index<DestinationRule> = (rule) => {
  const service = serviceOfHost(rule.spec?.host, rule);
  return service === undefined ? [] : [serviceKey(service, rule)];
};
const namespaceNamed: Index<DestinationRule> = (rule) => {
  const service = serviceOfHost(rule.spec?.host, rule);
  return service === undefined ? [] : [`${service.namespace}/${rule.metadata.clusterName ?? ""}`];
};
const namesakeNamed: Index<DestinationRule> = (rule) => {
  const service = serviceOfHost(rule.spec?.host, rule);
  return service === undefined ? [] : [`${service.name}@${rule.metadata.clusterName ?? ""}`];
};

const hostWritten: Index<DestinationRule> = ({ spec }) => (spec?.host === undefined ? [] : [spec.host]);

/** RTE1008. */
export const ruleHostUnknown = defineRule({
  code: "RTE1008",
  of: DestinationRule,
  reads: {
    services: lookUp(Service, { key: serviceNamed }),
    entries: lookUp(ServiceEntry, { key: byHost, index: byEntryHost }),
    federated: lookUp(Destination, { key: hostWritten, index: byFederatedHost }),
    neighbours: lookUp(Service, { key: namespaceNamed, index: byPlace }),
    namesakes: lookUp(Service, { key: namesakeNamed, index: byNameInCluster }),
    domains: itsRegistration,
  },
  *find(rule, { lookup }) {
    const service = serviceOfHost(rule.spec?.host, rule);
    const known = { inNamespace: lookup("neighbours"), namesakes: lookup("namesakes") };
    // Where nothing is known of the namespace, nothing is missing; nor of another cluster, or while the namespace is not known.
    if (service === undefined || known.inNamespace.length + known.namesakes.length === 0) return;
    if (!isInCluster(rule.spec?.host, lookup("domains")) || service.namespace === "" || known.namesakes.some(isWithoutNamespace)) return;
    if (lookup("services").length + lookup("entries").length + lookup("federated").length > 0) return;
    yield {
      field: "spec.host",
      message: `Service ${service.namespace}/${service.name} does not exist, so the rule has no effect`,
      remedy: "correct the host, or delete the DestinationRule",
      nearMiss: nearService(service, known),
    };
  },
});

/** RTE1009. */
export const subsetTwice = defineRule({
  code: "RTE1009",
  of: DestinationRule,
  reads: { others: lookUp(DestinationRule, { key: byHost, index: byHost }) },
  find: (rule, { lookup }) => {
    const others = lookup("others").filter(({ metadata }) => isEarlier(metadata, rule.metadata));
    return (rule.spec?.subsets ?? []).flatMap(({ name = "" }, i): readonly RuleFinding[] => {
      const other = others.find(({ spec }) => (spec?.subsets ?? []).some((subset) => subset.name === name));
      if (other === undefined || name === "") return [];
      const message = `subset ${name} of host ${rule.spec?.host} is defined in ${formatRef(refOf(other))} as well: which one is used is not defined`;
      return [{ field: `spec.subsets[${i}].name`, message, remedy: "define it in one DestinationRule" }];
    });
  },
});

/** Each pair is reported once. */
function isEarlier(a: Resource["metadata"], b: Resource["metadata"]): boolean {
  return a.namespace === b.namespace && a.name < b.name;
}

type Labels = Readonly<Record<string, string>>;
const NO_LABELS: Labels = {};
// Each is compared with all workloads of the Service.
const MOST_SUBSETS = 200;

/** RTE1010 of Istio objects of users. */
export const subsetEmpty = defineRule({
  code: "RTE1010",
  of: DestinationRule,
  reads: {
    services: lookUp(Service, { key: serviceNamed }),
    workloads: lookUp(Workload, { key: namespaceNamed, index: byWorkloadPlace }),
    // Pods without a sidecar are endpoints too, of whatever controller.
    deployments: lookUp(Deployment, { key: namespaceNamed, index: byPlace }),
    statefulSets: lookUp(StatefulSet, { key: namespaceNamed, index: byPlace }),
    daemonSets: lookUp(DaemonSet, { key: namespaceNamed, index: byPlace }),
    pods: lookUpPart(Pod, { key: namespaceNamed, index: byPlace, select: ({ metadata }) => metadata.labels ?? NO_LABELS }),
    domains: itsRegistration,
  },
  find: (rule, { lookup }) => {
    if (!isInCluster(rule.spec?.host, lookup("domains"))) return [];
    const [service] = lookup("services");
    const { selector = {} } = service?.spec ?? {};
    const pods: readonly Labels[] = [
      ...lookup("workloads").map(({ spec }) => spec?.kubernetes?.podLabels ?? {}),
      ...[...lookup("deployments"), ...lookup("statefulSets"), ...lookup("daemonSets")].map(
        ({ spec }) => spec?.template?.metadata?.labels ?? NO_LABELS,
      ),
      ...lookup("pods"),
    ];
    const own = Object.keys(selector).length === 0 ? [] : pods.filter((labels) => matchesLabels(selector, labels));
    // Without pods of the Service that are known, none is missing.
    if (own.length === 0) return [];
    return (rule.spec?.subsets ?? []).slice(0, MOST_SUBSETS).flatMap(({ name, labels: wanted = {} }, i): readonly RuleFinding[] => {
      if (own.some((labels) => matchesLabels(wanted, labels))) return [];
      const [label, value] = Object.entries(wanted).find(([key, one]) => own.every((labels) => labels[key] !== one)) ?? [];
      const field = `spec.subsets[${i}].labels`;
      const remedy = "correct the label";
      if (label === undefined || value === undefined) {
        const message = `subset ${name} is empty: no pod of ${rule.spec?.host} has all of its labels`;
        return [{ field, message, remedy }];
      }
      const values = [...new Set(own.flatMap((labels) => (Object.hasOwn(labels, label) ? (labels[label] ?? []) : [])))].sort();
      const message = `subset ${name} is empty: no pod of ${rule.spec?.host} has ${label}: ${value}${values.length === 0 ? "" : `, only ${values.join(", ")}`}`;
      return [{ field: `${field}.${label}`, message, remedy, nearMiss: nearestName(value, values) }];
    });
  },
});

/** RES1001 of Istio objects of users. */
export const localityWithoutOutliers = defineRule({
  code: "RES1001",
  of: DestinationRule,
  reads: {},
  *find({ spec }) {
    const { loadBalancer, outlierDetection } = spec?.trafficPolicy ?? {};
    const { enabled = true, failoverPriority = [], ...others } = loadBalancer?.localityLbSetting ?? { enabled: false };
    if (!enabled || outlierDetection !== undefined || (failoverPriority.length === 0 && !("failover" in others))) return;
    yield {
      field: "spec.trafficPolicy.outlierDetection",
      message: "is missing: without it Istio does not notice endpoints that fail, and never fails over",
      remedy: "add outlierDetection, with consecutive5xxErrors, interval and baseEjectionTime",
    };
  },
});
