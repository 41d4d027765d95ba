import { createHash } from "node:crypto";
import { type AnyResource, groupOf } from "@isthmus/core";
import { isMembers, type Members, membersAt } from "../apply/json.ts";
import { storageVersionOf } from "../kinds.ts";
import type { Served, SimulatedState } from "../state.ts";
import { builtInGroups, coreResources, type GoStruct, storageHash, structOfKind } from "./types/goTypes.ts";

export interface Subresource {
  readonly name: string;
  readonly kind: string;
  readonly group: string;
  readonly version: string;
  readonly verbs: readonly string[];
}

/** One version of a resource that is served. */
export interface ApiResource {
  readonly group: string;
  readonly version: string;
  readonly apiVersion: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: readonly Subresource[];
  readonly hash?: string;
  /** Where its objects are; undefined for what is only asked, such as reviews. */
  readonly served: Served | undefined;
  /** Of built-in kinds. */
  readonly struct: GoStruct | undefined;
  /** Of kinds that a CustomResourceDefinition defines. */
  readonly custom: CustomVersion | undefined;
}

/** What a CustomResourceDefinition says of one version. */
export interface CustomVersion {
  readonly schema: Members | undefined;
  readonly columns: readonly Members[];
  readonly hasStatus: boolean;
  readonly scale: Members | undefined;
  readonly deprecation: string | undefined;
}

/** A group with its versions, the preferred one first. */
export interface ApiGroup {
  readonly name: string;
  readonly versions: readonly string[];
}

export interface ResourceTable {
  readonly groups: readonly ApiGroup[];
  /** In the order of discovery. */
  of(group: string, version: string): readonly ApiResource[];
  find(group: string, version: string, plural: string): ApiResource | undefined;
  readonly all: readonly ApiResource[];
}

const DEFINITIONS = "apiextensions.k8s.io/CustomResourceDefinition";
const ALL_VERBS = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

/** The resources of a cluster, read again when what it serves has changed. */
export function resourceTables(state: SimulatedState): () => ResourceTable {
  let known: { readonly key: string; readonly definitions: unknown; readonly table: ResourceTable } | undefined;
  return () => {
    const served = [...state.all()];
    const definitions = served.find(({ kindKey }) => kindKey === DEFINITIONS)?.store.resources ?? [];
    const key = served.map(({ kindKey }) => kindKey).join(" ");
    if (known?.definitions === definitions && known.key === key) return known.table;
    known = { key, definitions, table: tableOf([...builtIn(served), ...custom(served, definitions)]) };
    return known.table;
  };
}

function tableOf(all: readonly ApiResource[]): ResourceTable {
  const byVersion = new Map<string, ApiResource[]>();
  const groups = new Map<string, string[]>();
  for (const resource of all) {
    const list = byVersion.get(resource.apiVersion) ?? [];
    list.push(resource);
    byVersion.set(resource.apiVersion, list);
    const versions = groups.get(resource.group) ?? [];
    if (!versions.includes(resource.version)) versions.push(resource.version);
    groups.set(resource.group, versions);
  }
  const of = (group: string, version: string) => byVersion.get(group === "" ? version : `${group}/${version}`) ?? [];
  return {
    all,
    of,
    groups: [...groups].map(([name, versions]) => ({ name, versions })),
    find: (group, version, plural) => of(group, version).find((resource) => resource.plural === plural),
  };
}

function servedBy(served: readonly Served[], group: string, kind: string): Served | undefined {
  return served.find(({ kindKey }) => kindKey === `${group}/${kind}`);
}

function builtIn(served: readonly Served[]): readonly ApiResource[] {
  const core = coreResources();
  const first = core
    .filter(({ name }) => !name.includes("/"))
    .map((resource): ApiResource => {
      const {
        name: plural,
        singularName: singular,
        kind,
        namespaced,
        verbs,
        shortNames = [],
        categories = [],
        storageVersionHash,
      } = resource;
      const subresources = core
        .filter(({ name }) => name.startsWith(`${plural}/`))
        .map((each) => ({
          name: each.name.slice(plural.length + 1),
          kind: each.kind,
          group: each.group ?? "",
          version: each.version ?? "",
          verbs: each.verbs,
        }));
      return {
        ...{
          group: "",
          version: "v1",
          apiVersion: "v1",
          plural,
          singular,
          kind,
          listKind: `${kind}List`,
          namespaced,
          shortNames,
          categories,
        },
        ...{ verbs, subresources, custom: undefined, struct: structOfKind("v1", kind), served: servedBy(served, "", kind) },
        ...(storageVersionHash === undefined ? {} : { hash: storageVersionHash }),
      };
    });
  const others = builtInGroups().flatMap(({ metadata: { name: group }, versions }) =>
    versions.flatMap(({ version, resources }) =>
      resources.map((resource): ApiResource => {
        const { resource: plural, singularResource: singular, responseKind, scope, verbs, shortNames = [], categories = [] } = resource;
        const apiVersion = `${group}/${version}`;
        const { kind } = responseKind;
        const hash = storageHash(`${apiVersion}/${plural}`);
        return {
          ...{ group, version, apiVersion, plural, singular, kind, listKind: `${kind}List`, namespaced: scope === "Namespaced" },
          ...{ shortNames, categories, verbs, custom: undefined },
          subresources: (resource.subresources ?? []).map((each) => ({
            name: each.subresource,
            kind: each.responseKind.kind,
            group: each.responseKind.group,
            version: each.responseKind.version,
            verbs: each.verbs,
          })),
          ...(hash === undefined ? {} : { hash }),
          struct: structOfKind(apiVersion, kind),
          served: servedBy(served, group, kind),
        };
      }),
    ),
  );
  return [...first, ...others];
}

function custom(served: readonly Served[], definitions: readonly AnyResource[]): readonly ApiResource[] {
  const ours = new Map(definitions.map((definition) => [definedKey(definition), definition]));
  const builtInNames: ReadonlySet<string> = new Set(["", ...builtInGroups().map(({ metadata }) => metadata.name)]);
  return served.flatMap((each) => {
    const group = groupOf(storageVersionOf(each.kind));
    const definition = ours.get(each.kindKey);
    if (builtInNames.has(group) && definition === undefined) return [];
    return definition === undefined ? undefinedKind(each, group) : definedVersions(each, definition);
  });
}

function definedKey(definition: AnyResource): string {
  const spec = membersAt(definition, "spec");
  return `${String(spec["group"])}/${String(membersAt(spec, "names")["kind"])}`;
}

/** A kind that is served without a definition. */
function undefinedKind(served: Served, group: string): readonly ApiResource[] {
  const { kind, plural, namespaced, versions, statusSubresource } = served.kind;
  return versions.map((apiVersion) => {
    const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
    return {
      ...{ group, version, apiVersion, plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List`, namespaced },
      ...{ shortNames: [], categories: [], verbs: ALL_VERBS, served, struct: undefined },
      subresources: statusSubresource ? [{ name: "status", kind, group: "", version: "", verbs: ["get", "patch", "update"] }] : [],
      custom: { schema: undefined, columns: [], hasStatus: statusSubresource, scale: undefined, deprecation: undefined },
    };
  });
}

function definedVersions(served: Served, definition: AnyResource): readonly ApiResource[] {
  const spec = membersAt(definition, "spec");
  // Names that are not accepted yet are not served.
  const names = { ...membersAt(spec, "names"), ...membersAt(membersAt(definition, "status"), "acceptedNames") } as Members;
  const group = String(spec["group"]);
  const kind = String(names["kind"]);
  const versions = Array.isArray(spec["versions"]) ? spec["versions"].filter(isMembers) : [];
  const current = [...versions].filter(({ served: isServed, deprecated }) => isServed === true && deprecated !== true);
  const newer = current.map(({ name }) => String(name)).sort(comparedVersions)[0];
  const hash = createHash("sha256")
    .update(`${group}/${String(versions.find(({ storage }) => storage === true)?.["name"])}/${kind}`)
    .digest()
    .subarray(0, 8)
    .toString("base64");
  return [...versions]
    .filter((version) => version["served"] === true)
    .sort((a, b) => comparedVersions(String(a["name"]), String(b["name"])))
    .map((version): ApiResource => {
      const subresources = membersAt(version, "subresources");
      const hasStatus = isMembers(subresources["status"]);
      const scale = isMembers(subresources["scale"]) ? subresources["scale"] : undefined;
      const name = String(version["name"]);
      const verbs = ["get", "patch", "update"];
      return {
        ...{ group, version: name, apiVersion: `${group}/${name}`, plural: String(names["plural"]), kind, served, struct: undefined },
        hash,
        singular: String(names["singular"] ?? kind.toLowerCase()),
        listKind: String(names["listKind"] ?? `${kind}List`),
        namespaced: spec["scope"] !== "Cluster",
        shortNames: strings(names["shortNames"]),
        categories: strings(names["categories"]),
        verbs: ALL_VERBS,
        subresources: [
          ...(hasStatus ? [{ name: "status", kind, group: "", version: "", verbs }] : []),
          ...(scale === undefined ? [] : [{ name: "scale", kind: "Scale", group: "autoscaling", version: "v1", verbs }]),
        ],
        custom: {
          schema: isMembers(membersAt(version, "schema")["openAPIV3Schema"])
            ? (membersAt(version, "schema")["openAPIV3Schema"] as Members)
            : undefined,
          columns: Array.isArray(version["additionalPrinterColumns"]) ? version["additionalPrinterColumns"].filter(isMembers) : [],
          hasStatus,
          scale,
          deprecation:
            version["deprecated"] === true
              ? String(
                  version["deprecationWarning"] ??
                    `${group}/${name} ${kind} is deprecated${newer === undefined ? "" : `; use ${group}/${newer} ${kind}`}`,
                )
              : undefined,
        },
      };
    });
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
}

const VERSION = /^v(\d+)(?:(alpha|beta)(\d+))?$/;

/** Stable versions first, the newest of each first. Source: apimachinery, pkg/version/helpers.go. */
function comparedVersions(a: string, b: string): number {
  const [first, second] = [VERSION.exec(a), VERSION.exec(b)];
  if (first === null || second === null) return first === second ? a.localeCompare(b) : first === null ? 1 : -1;
  const rank = (match: RegExpExecArray) => (match[2] === undefined ? 2 : match[2] === "beta" ? 1 : 0);
  return rank(second) - rank(first) || Number(second[1]) - Number(first[1]) || Number(second[3] ?? 0) - Number(first[3] ?? 0);
}
