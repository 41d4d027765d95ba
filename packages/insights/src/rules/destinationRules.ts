import { Destination, DestinationRule, Service, ServiceEntry, VirtualService } from "@isthmus/api";
import { formatRef, type Index, keyOf, nearestName, type Resource, refOf } from "@isthmus/core";
import { defineRule, lookUp, type RuleFinding } from "../rule.ts";
import { byEntryHost, byNameInCluster, byPlace, hostKey, nearService, serviceKey, serviceOfHost } from "./places.ts";

const byHost: Index<DestinationRule> = (rule) => [hostKey(rule.spec?.host, rule)];

interface SubsetName {
  readonly path: string;
  readonly host: string;
  readonly subset: string;
}

function subsetsNamed({ spec }: VirtualService): readonly SubsetName[] {
  return (spec?.http ?? []).flatMap(({ route = [] }, i) =>
    route.flatMap(({ destination: { host = "", subset = "" } = {} }, j) =>
      subset === "" ? [] : [{ path: `spec.http[${i}].route[${j}].destination.subset`, host, subset }],
    ),
  );
}

const hostsWithSubsets: Index<VirtualService> = (object) => [...new Set(subsetsNamed(object).map(({ host }) => hostKey(host, object)))];

/** CFG0001. */
export const subsetNowhere = defineRule({
  code: "CFG0001",
  of: VirtualService,
  reads: { rules: lookUp(DestinationRule, { key: hostsWithSubsets, index: byHost }) },
  find: (object, { lookup }) =>
    subsetsNamed(object).flatMap(({ path, host, subset }): readonly RuleFinding[] => {
      const rules = lookup("rules").filter((rule) => byHost(rule).includes(hostKey(host, object)));
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

/** RTE1008. */
export const ruleHostUnknown = defineRule({
  code: "RTE1008",
  of: DestinationRule,
  reads: {
    services: lookUp(Service, { key: serviceNamed }),
    entries: lookUp(ServiceEntry, { key: byHost, index: byEntryHost }),
    neighbours: lookUp(Service, { key: namespaceNamed, index: byPlace }),
    namesakes: lookUp(Service, { key: namesakeNamed, index: byNameInCluster }),
  },
  *find(rule, { lookup }) {
    const service = serviceOfHost(rule.spec?.host, rule);
    const known = { inNamespace: lookup("neighbours"), namesakes: lookup("namesakes") };
    // Where nothing is known of the namespace, nothing is missing.
    if (service === undefined || known.inNamespace.length + known.namesakes.length === 0) return;
    if (lookup("services").length + lookup("entries").length > 0) return;
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

const byItsService: Index<Destination> = ({ spec }) => (spec?.kubeService?.ref === undefined ? [] : [keyOf(spec.kubeService.ref)]);

/** RTE1010 of Istio objects of users. */
export const subsetEmpty = defineRule({
  code: "RTE1010",
  of: DestinationRule,
  reads: { destinations: lookUp(Destination, { key: serviceNamed, index: byItsService }) },
  find: (rule, { lookup }) =>
    (rule.spec?.subsets ?? []).flatMap(({ name, labels = {} }, i) =>
      Object.entries(labels).flatMap(([label, value]): readonly RuleFinding[] => {
        const values = lookup("destinations").flatMap(({ spec }) => spec?.kubeService?.subsets?.[label]?.values ?? []);
        // Discovery lists a label where the pods differ in it, or all of it is known.
        if (values.length === 0 || values.includes(value)) return [];
        const message = `subset ${name} is empty: no pod of ${rule.spec?.host} has ${label}: ${value}, only ${values.join(", ")}`;
        return [
          { field: `spec.subsets[${i}].labels.${label}`, message, remedy: "correct the label", nearMiss: nearestName(value, values) },
        ];
      }),
    ),
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

/** SEC1008. */
export const mutualTlsSwitchedOff = defineRule({
  code: "SEC1008",
  of: DestinationRule,
  reads: { destinations: lookUp(Destination, { key: serviceNamed, index: byItsService }) },
  *find({ spec }, { lookup }) {
    const mode = spec?.trafficPolicy?.tls?.mode;
    const [destination] = lookup("destinations").filter(({ spec: found }) => found?.mesh !== undefined);
    if (mode !== "DISABLE" || destination === undefined) return;
    yield {
      field: "spec.trafficPolicy.tls.mode",
      message: `DISABLE sends plain text to ${spec?.host}, which is in Mesh ${destination.spec?.mesh?.name}: where the mesh requires mutual TLS, requests fail with 503`,
      remedy: "set ISTIO_MUTUAL, or remove tls",
    };
  },
});
