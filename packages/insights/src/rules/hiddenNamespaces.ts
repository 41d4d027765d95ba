import { AccessPolicy, type DestinationSelector, Mesh, Namespace, Settings, settingsInForce, TrafficPolicy } from "@isthmus/api";
import { formatRef, type Index, type Resource, refOf } from "@isthmus/core";
import { isNamespaceInScope, settingsSelectors } from "@isthmus/translators";
import { kubectl } from "../insight.ts";
import { defineRule, lookUp } from "../rule.ts";
import { byInstallationPlace } from "./places.ts";

const SETTINGS = "settings";
const settingsKey: Index<Namespace> = () => [SETTINGS];
const bySettingsName: Index<Settings> = ({ metadata: { name, clusterName = "" } }) =>
  name === SETTINGS && clusterName === "" ? [SETTINGS] : [];

const inEach: Index<Namespace> = ({ metadata: { name, clusterName = "" } }) => [`${name}/${clusterName}`, `${name}/`];

/** The namespaces that selectors name, each with its cluster; with an empty one where they name none. */
function namedBy(selectors: readonly DestinationSelector[] | undefined): readonly string[] {
  const named = (selectors ?? []).flatMap(({ kubeServiceMatcher, kubeServiceRefs }) => {
    const { namespaces = [], clusters = [] } = kubeServiceMatcher ?? {};
    const places = clusters.length === 0 ? [""] : clusters;
    return [
      ...namespaces.flatMap((namespace) => places.map((cluster) => `${namespace}/${cluster}`)),
      ...(kubeServiceRefs?.services ?? []).map(({ namespace = "", clusterName = "" }) => `${namespace}/${clusterName}`),
    ];
  });
  return [...new Set(named)];
}

const trafficPolicyNames: Index<TrafficPolicy> = ({ spec }) => namedBy(spec?.destinationSelector);
const accessPolicyNames: Index<AccessPolicy> = ({ spec }) => namedBy(spec?.destinationSelector);

const ownPlace: Index<Namespace> = ({ metadata: { name, clusterName = "" } }) => [`${name}/${clusterName}`];

const SHOWN = 3;

/** CFG1016, of the selectors of the Settings: what those of a mesh leave out is not in the mesh. */
export const namespaceHidden = defineRule({
  code: "CFG1016",
  of: Namespace,
  reads: {
    settings: lookUp(Settings, { key: settingsKey, index: bySettingsName }),
    homeOf: lookUp(Mesh, { key: ownPlace, index: byInstallationPlace }),
    trafficPolicies: lookUp(TrafficPolicy, { key: inEach, index: trafficPolicyNames }),
    accessPolicies: lookUp(AccessPolicy, { key: inEach, index: accessPolicyNames }),
  },
  *find({ metadata }, { lookup, context }) {
    const [settings] = lookup("settings").filter((one) => one.metadata.namespace === context.namespace);
    const ofSettings = settings === undefined ? [] : settingsSelectors(settingsInForce(settings));
    if (ofSettings.length === 0 || lookup("homeOf").length > 0) return;
    if (isNamespaceInScope(metadata.name, { ofMeshes: undefined, ofSettings, labelsOf: () => metadata.labels })) return;
    const policies: readonly Resource[] = [...lookup("trafficPolicies"), ...lookup("accessPolicies")];
    if (policies.length === 0) return;
    const names = policies.map((policy) => formatRef(refOf(policy))).sort();
    yield {
      field: "metadata.labels",
      message: `discovery.selectors of the Settings leave the namespace out, so its services are not discovered, and ${names.slice(0, SHOWN).join(", ")}${names.length > SHOWN ? " and others" : ""} ${names.length === 1 ? "does" : "do"} not apply to them`,
      remedy: {
        text: "give the namespace the labels that discovery.selectors ask for, or widen these",
        command: kubectl({ clusterName: "", namespace: context.namespace }, "edit", "settings", SETTINGS),
      },
    };
  },
});
