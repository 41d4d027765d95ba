import { type ConfigMap, DestinationRule, MESH_CONFIG_KEY, ServiceEntry, VirtualService } from "@isthmus/api";
import { isClusterName, type LabelRequirement, type LabelSelector, messageOf } from "@isthmus/core";
import { type YamlOptions, yamlValue } from "@isthmus/core/yaml";
import { unheededFields } from "./meshConfigFields.ts";

/** What we read of an Istio MeshConfig. Source: istio.io/docs/reference/config/istio.mesh.v1alpha1. */
export interface MeshConfig {
  /** "" when it names none, or names that. */
  readonly trustDomain: string;
  /** Whether it names one: without, Istio takes `DEFAULT_TRUST_DOMAIN`. */
  readonly namesTrustDomain: boolean;
  /** Trust domains that count as its own. What is no text is left out. */
  readonly trustDomainAliases: readonly string[];
  /** Where policies are about the whole mesh. */
  readonly rootNamespace: string;
  /** Whether sidecars answer DNS for hosts of ServiceEntries. */
  readonly isDnsCaptured: boolean;
  /** Whether sidecars use mutual TLS with one another where nothing says a mode. */
  readonly isAutoMtls: boolean;
  /** Fields that change what our objects come to, and that nothing here heeds. */
  readonly unheeded: readonly string[];
  /** Kinds whose objects other namespaces do not see unless they say exportTo. */
  readonly privateByDefault: readonly string[];
  /** The namespaces that istiod looks into; empty: all. */
  readonly discoverySelectors: readonly LabelSelector[];
}

/** What is wrong with a mesh configuration. */
export interface MeshConfigProblem {
  readonly problem: string;
}

// YAML is parsed once for each ConfigMap object, however often the world is translated.
const parsed = new WeakMap<ConfigMap, MeshConfig | MeshConfigProblem>();

/** The mesh configuration that a ConfigMap holds. Unknown fields are left to Istio. */
export function meshConfigOf(configMap: ConfigMap): MeshConfig | MeshConfigProblem {
  const known = parsed.get(configMap);
  if (known !== undefined) return known;
  const config = read(configMap.data?.[MESH_CONFIG_KEY]);
  parsed.set(configMap, config);
  return config;
}

/** Istio's own are a few kB. To read YAML takes up to 10 ms for each, and anyone who may write ConfigMaps there would stop the server with more. */
export const MAX_MESH_CONFIG_BYTES = 64 * 1024;

// YAML 1.1, in which `yes` is no text; of equal keys the last counts. Without what Istio's reader leaves as text: dates and times of day.
const AS_ISTIO_READS: YamlOptions & { readonly maxBytes: number } = {
  maxBytes: MAX_MESH_CONFIG_BYTES,
  version: "1.1",
  uniqueKeys: false,
  schema: "yaml-1.1",
  customTags: (tags) => tags.filter((tag) => typeof tag === "string" || !(tag.tag.endsWith(":timestamp") || tag.format === "TIME")),
};

function read(text: string | undefined): MeshConfig | MeshConfigProblem {
  if (text === undefined) return { problem: "is missing" };
  try {
    const config = object("", yamlValue(text, AS_ISTIO_READS) ?? {});
    // Both spellings of a field are right, as everywhere in protobuf's JSON.
    const proxyConfig = object("defaultConfig", config["defaultConfig"] ?? config["default_config"] ?? {});
    const proxyMetadata = texts("defaultConfig.proxyMetadata", proxyConfig["proxyMetadata"] ?? proxyConfig["proxy_metadata"] ?? {});
    const trustDomain = config["trustDomain"] ?? config["trust_domain"];
    return {
      trustDomain: string("trustDomain", trustDomain ?? ""),
      namesTrustDomain: trustDomain !== undefined && trustDomain !== null,
      trustDomainAliases: textsIn(config["trustDomainAliases"] ?? config["trust_domain_aliases"]),
      rootNamespace: namespace("rootNamespace", config["rootNamespace"] ?? config["root_namespace"] ?? DEFAULT_ROOT_NAMESPACE),
      isDnsCaptured: proxyMetadata["ISTIO_META_DNS_CAPTURE"] === "true",
      isAutoMtls: (config["enableAutoMtls"] ?? config["enable_auto_mtls"]) !== false,
      unheeded: unheededFields(config),
      privateByDefault: DEFAULT_EXPORTS.flatMap(([kind, ...names]) => {
        const wanted = textsIn(names.map((name) => config[name]).find((value) => value !== undefined));
        return wanted.length === 0 || wanted.includes("*") ? [] : [kind];
      }),
      discoverySelectors: list("discoverySelectors", config["discoverySelectors"] ?? config["discovery_selectors"] ?? []).map(selector),
    };
  } catch (error) {
    // Whatever the text is, it is the user's: the message goes into a report.
    return { problem: messageOf(error) };
  }
}

// Of Kubernetes' own Services, the first says the same. Absent, each is `*`.
const DEFAULT_EXPORTS = [
  [ServiceEntry.kind, "defaultServiceExportTo", "default_service_export_to"],
  [VirtualService.kind, "defaultVirtualServiceExportTo", "default_virtual_service_export_to"],
  [DestinationRule.kind, "defaultDestinationRuleExportTo", "default_destination_rule_export_to"],
] as const;

/** Of a mesh configuration without one. Source: istio.io/istio pkg/config/mesh, DefaultMeshConfig; pkg/config/constants, DefaultClusterLocalDomain. */
export const DEFAULT_TRUST_DOMAIN = "cluster.local";

// Whatever the namespace of istiod is. Source: istio.io/istio pkg/config/mesh, DefaultMeshConfig; Istio's charts name that of istiod.
const DEFAULT_ROOT_NAMESPACE = "istio-system";

/** Istio reads "" like a field that is not there. */
function namespace(path: string, value: unknown): string {
  const name = string(path, value) || DEFAULT_ROOT_NAMESPACE;
  if (!isClusterName(name)) throw mistyped(path, "the name of a namespace", value);
  return name;
}

/** Nothing that is translated depends on it: a mistake in it must not keep the rest from being used. */
function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : [];
}

function selector(value: unknown, position: number): LabelSelector {
  const path = `discoverySelectors[${position}]`;
  const { matchLabels = {}, matchExpressions = [] } = object(path, value);
  return {
    matchLabels: texts(`${path}.matchLabels`, matchLabels),
    matchExpressions: list(`${path}.matchExpressions`, matchExpressions).map((entry, i) =>
      requirement(`${path}.matchExpressions[${i}]`, entry),
    ),
  };
}

function requirement(path: string, value: unknown): LabelRequirement {
  const { key, operator, values = [] } = object(path, value);
  if (operator !== "In" && operator !== "NotIn" && operator !== "Exists" && operator !== "DoesNotExist") {
    throw new TypeError(`${path}.operator: ${JSON.stringify(operator)} is not one of In, NotIn, Exists, DoesNotExist`);
  }
  return {
    key: string(`${path}.key`, key),
    operator,
    values: list(`${path}.values`, values).map((entry, i) => string(`${path}.values[${i}]`, entry)),
  };
}

function object(path: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw mistyped(path, "an object", value);
  return value as Readonly<Record<string, unknown>>;
}

function list(path: string, value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw mistyped(path, "a list", value);
  return value;
}

function string(path: string, value: unknown): string {
  if (typeof value !== "string") throw mistyped(path, "a string", value);
  return value;
}

function texts(path: string, value: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(object(path, value)).map(([key, entry]) => [key, string(`${path}.${key}`, entry)]));
}

function mistyped(path: string, wanted: string, value: unknown): TypeError {
  return new TypeError(`${path === "" ? "" : `${path}: `}must be ${wanted}, is ${JSON.stringify(value)}`);
}
