import type { Members } from "../apply/json.ts";
import type { ApiResource, ResourceTable } from "./resourceTable.ts";

/** The version of Kubernetes that clusters are simulated in. */
export const VERSION = {
  major: "1",
  minor: "34",
  emulationMajor: "1",
  emulationMinor: "34",
  minCompatibilityMajor: "1",
  minCompatibilityMinor: "33",
  gitVersion: "v1.34.4",
  gitCommit: "0000000000000000000000000000000000000000",
  gitTreeState: "clean",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "none",
  compiler: "none",
  platform: "isthmus/simulated",
};

/** `/api`. */
export function coreVersions(address: string): Members {
  return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: address }] };
}

/** `/apis`. */
export function groupList(table: ResourceTable): Members {
  return { kind: "APIGroupList", apiVersion: "v1", groups: namedGroups(table).map(({ name }) => groupBody(table, name)) };
}

/** `/apis/GROUP`; undefined where there is none. */
export function groupDocument(table: ResourceTable, name: string): Members | undefined {
  const body = namedGroups(table).some((group) => group.name === name) ? groupBody(table, name) : undefined;
  return body === undefined ? undefined : { kind: "APIGroup", apiVersion: "v1", ...body };
}

function namedGroups({ groups }: ResourceTable) {
  return groups.filter(({ name }) => name !== "");
}

function groupBody({ groups }: ResourceTable, name: string): Members {
  const versions = (groups.find((group) => group.name === name)?.versions ?? []).map((version) => ({
    groupVersion: `${name}/${version}`,
    version,
  }));
  return { name, versions, preferredVersion: versions[0] };
}

/** `/api/v1` and `/apis/GROUP/VERSION`; undefined where there is none. */
export function resourceList(table: ResourceTable, group: string, version: string): Members | undefined {
  const resources = table.of(group, version);
  if (resources.length === 0) return undefined;
  const head = group === "" ? { kind: "APIResourceList" } : { kind: "APIResourceList", apiVersion: "v1" };
  return { ...head, groupVersion: group === "" ? version : `${group}/${version}`, resources: resources.flatMap(legacyEntries) };
}

function legacyEntries(resource: ApiResource): readonly Members[] {
  const { plural, singular, namespaced, kind, verbs, shortNames, categories, hash, subresources } = resource;
  return [
    {
      name: plural,
      singularName: singular,
      namespaced,
      kind,
      verbs,
      ...(shortNames.length === 0 ? {} : { shortNames }),
      ...(categories.length === 0 ? {} : { categories }),
      ...(hash === undefined ? {} : { storageVersionHash: hash }),
    },
    ...subresources.map((each) => ({
      name: `${plural}/${each.name}`,
      singularName: "",
      namespaced,
      ...(each.group === "" ? {} : { group: each.group }),
      ...(each.version === "" ? {} : { version: each.version }),
      kind: each.kind,
      verbs: each.verbs,
    })),
  ];
}

/** `/api` or `/apis` in one document, for clients that ask for it. */
export function aggregated(table: ResourceTable, { core }: { readonly core: boolean }): Members {
  const groups = table.groups.filter(({ name }) => (name === "") === core);
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name === "" ? {} : { name },
      versions: versions.map((version) => ({ version, resources: table.of(name, version).map(aggregatedEntry), freshness: "Current" })),
    })),
  };
}

function aggregatedEntry(resource: ApiResource): Members {
  const { plural, singular, namespaced, kind, verbs, shortNames, categories, subresources, group, version } = resource;
  return {
    resource: plural,
    responseKind: { group, version, kind },
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(subresources.length === 0
      ? {}
      : {
          subresources: subresources.map((each) => ({
            subresource: each.name,
            responseKind: {
              group: each.group === "" ? group : each.group,
              version: each.version === "" ? version : each.version,
              kind: each.kind,
            },
            verbs: each.verbs,
          })),
        }),
  };
}
