import { asSeems } from "../shared/unknownFields.ts";
import { Settings, type SettingsSpec } from "./settings.ts";

type Resources = NonNullable<SettingsSpec["workloadClusterResources"]>;

const known = new WeakMap<Settings, Settings>();

/**
 * The Settings as they apply. A misspelt field restricts as if it were spelled right, and allows nothing: what was meant to limit policies,
 * clusters or namespaces must not be lost by a letter. The very same object where nothing is misspelt.
 */
export function settingsInForce(settings: Settings): Settings {
  const found = known.get(settings) ?? restricted(settings);
  known.set(settings, found);
  return found;
}

function restricted(settings: Settings): Settings {
  const { spec = {} } = settings;
  const seems = seemingSpec(settings);
  if (seems === undefined) return settings;
  const { policies = {}, relay = {}, discovery = {} } = spec;
  const selectors = seems.discovery?.selectors ?? discovery.selectors;
  return {
    ...settings,
    spec: {
      ...spec,
      policies: { ...policies, ...(seems.policies?.namespaces === "OWN" ? { namespaces: "OWN" } : {}) },
      relay: {
        ...relay,
        ...(seems.relay?.registration === "KNOWN_CLUSTERS" ? { registration: "KNOWN_CLUSTERS" } : {}),
        ...(seems.relay?.sharedToken === "ANY_NAME" ? {} : { sharedToken: "NEW_NAMES" }),
      },
      discovery: { ...discovery, ...(selectors === undefined ? {} : { selectors }) },
      workloadClusterResources: narrower(spec.workloadClusterResources ?? {}, seems.workloadClusterResources ?? {}),
    },
  };
}

/** The `spec` as its writer seems to mean it; undefined where nothing is misspelt, or that is of no use. */
function seemingSpec(settings: Settings): SettingsSpec | undefined {
  const seems = asSeems(Settings.definition.fields.spec, settings.spec);
  if (seems === settings.spec) return undefined;
  try {
    return Settings.parse({ ...settings, spec: seems }).spec;
  } catch {
    // What stands under a misspelt name is not of the type of the right one: the finding about the name tells it.
    return undefined;
  }
}

function narrower(written: Resources, seems: Resources): Resources {
  const isAnywhere = ({ targets, clusters = {} }: Resources, name: string) => (clusters[name] ?? targets) === "ANY_DESTINATION";
  const targets = (isOpen: boolean) => (isOpen ? "ANY_DESTINATION" : "OWN_DESTINATIONS");
  const names = [...new Set([...Object.keys(written.clusters ?? {}), ...Object.keys(seems.clusters ?? {})])];
  return {
    ...written,
    targets: targets([written, seems].every((one) => one.targets === "ANY_DESTINATION")),
    clusters: Object.fromEntries(names.map((name) => [name, targets([written, seems].every((one) => isAnywhere(one, name)))])),
    workloads: [written, seems].every(({ workloads }) => workloads === "OWN_CLUSTER") ? "OWN_CLUSTER" : "OWN_NAMESPACE",
    virtualMeshes: [written, seems].every(({ virtualMeshes }) => virtualMeshes === "ALLOWED") ? "ALLOWED" : "REFUSED",
  };
}
