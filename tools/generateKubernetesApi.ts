import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

/**
 * Writes what `packages/simulator/src/restApi/gen` knows of Kubernetes' own kinds, from the module `k8s.io/kubernetes` that tests/real pins: how
 * they are written in Go, what its API server's discovery says, and its OpenAPI schemas. Needs Go, as tests/real/install.sh does.
 */
const root = process.cwd();
const kube = join(root, "tests/real/kube");
const environment = { ...process.env, GOFLAGS: "" };

type Json = Readonly<Record<string, unknown>>;

function main(): void {
  const source = execFileSync("go", ["list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes"], { cwd: kube, env: environment })
    .toString()
    .trim();
  const inGo = JSON.parse(
    execFileSync("go", ["run", "./apiTypes"], { cwd: kube, env: environment, maxBuffer: 64 * 1024 * 1024 }).toString(),
  ) as {
    kinds: Record<string, Record<string, string>>;
    structs: Record<string, unknown[][]>;
  };
  const read = (path: string) => JSON.parse(readFileSync(join(source, "api", path), "utf8")) as Json;
  const groups = (read("discovery/aggregated_v2.json")["items"] as { metadata: { name: string }; versions: { version: string }[] }[])
    .map((group) => ({ ...group, versions: group.versions.filter(({ version }) => isStable(version)) }))
    .filter(({ versions }) => versions.length > 0);
  const core = read("discovery/api__v1.json");
  const schemas: Record<string, Json> = {};
  const [kubeconfig] = process.argv.slice(2);
  const documents = ["api__v1", ...groups.flatMap(({ metadata, versions }) => versions.map((v) => `apis__${metadata.name}__${v.version}`))];
  for (const document of documents) {
    const { components } = openApi(document, kubeconfig, read);
    Object.assign(schemas, components.schemas);
  }
  for (const [name, fields] of Object.entries(inGo.structs)) addListTypes(fields, schemas[schemaName(name)]);
  const kinds = Object.fromEntries(
    Object.entries(inGo.kinds).map(([version, types]) => [
      version,
      Object.fromEntries(Object.entries(types).filter(([kind]) => !kind.endsWith("Options") && kind !== "WatchEvent")),
    ]),
  );
  const hashes: Record<string, string> = {};
  for (const { metadata, versions } of groups) {
    for (const { version } of versions) {
      const { resources } = read(`discovery/apis__${metadata.name}__${version}.json`) as {
        resources: { name: string; storageVersionHash?: string }[];
      };
      for (const { name, storageVersionHash } of resources)
        if (storageVersionHash !== undefined) hashes[`${metadata.name}/${version}/${name}`] = storageVersionHash;
    }
  }
  if (kubeconfig !== undefined) write("roles", bootstrapRoles(kubeconfig));
  write("types", { kinds, structs: inGo.structs, groups, core, hashes });
  write("schemas", Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))));
}

interface Schemas {
  readonly components: { readonly schemas: Readonly<Record<string, Json>> };
}

/** The document of a running API server, which says more: what values an enumeration has. Without one, that of the sources. */
function openApi(document: string, kubeconfig: string | undefined, read: (path: string) => Json): Schemas {
  if (kubeconfig === undefined) return read(`openapi-spec/v3/${document}_openapi.json`) as unknown as Schemas;
  return JSON.parse(fetched(kubeconfig, `/openapi/v3/${document.replaceAll("__", "/")}`)) as Schemas;
}

/** The roles and bindings that an API server makes as it starts, as an administrator would write them. */
function bootstrapRoles(kubeconfig: string): readonly Json[] {
  const kinds = { ClusterRole: "clusterroles", ClusterRoleBinding: "clusterrolebindings", Role: "roles", RoleBinding: "rolebindings" };
  return Object.entries(kinds).flatMap(([kind, plural]) => {
    const path = `/apis/rbac.authorization.k8s.io/v1/${plural}?labelSelector=kubernetes.io/bootstrapping=rbac-defaults`;
    const { items } = JSON.parse(fetched(kubeconfig, path)) as { items: { metadata: Json }[] };
    return items.map(({ metadata: { name, namespace, labels, annotations }, ...rest }) => ({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind,
      metadata: { name, namespace, labels, annotations },
      ...rest,
    }));
  });
}

function fetched(kubeconfig: string, path: string): string {
  const components = join(execFileSync("tests/real/cache.sh").toString().trim(), "components.json");
  const { kubectl } = JSON.parse(readFileSync(components, "utf8")) as { kubectl: string };
  return execFileSync(kubectl, [`--kubeconfig=${kubeconfig}`, "get", "--raw", path], { maxBuffer: 64 * 1024 * 1024 }).toString();
}

function isStable(version: string): boolean {
  return !/alpha|beta/.test(version);
}

/** `core/v1.PodSpec` as OpenAPI names it. */
function schemaName(goName: string): string {
  const [group = "", version = "", name = ""] = goName.split(/[/.]/);
  if (group === "meta") return `io.k8s.apimachinery.pkg.apis.meta.${version}.${name}`;
  if (group === "apiextensions") return `io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.${version}.${name}`;
  return `io.k8s.api.${group}.${version}.${name}`;
}

/** A fifth member: what server-side apply and defaults need beside Go's tags. */
function addListTypes(fields: unknown[][], schema: Json | undefined): void {
  const properties = (schema?.["properties"] ?? {}) as Readonly<Record<string, Json>>;
  const required = new Set((schema?.["required"] ?? []) as readonly string[]);
  for (const field of fields) {
    const property = properties[field[0] as string] ?? {};
    const keys = property["x-kubernetes-list-map-keys"];
    const listType = property["x-kubernetes-list-type"];
    const more = {
      ...(keys === undefined ? {} : { keys }),
      ...(listType === undefined ? {} : { list: listType }),
      ...(property["x-kubernetes-map-type"] === "atomic" ? { atomic: true } : {}),
      ...(property["default"] === undefined || JSON.stringify(property["default"]) === "{}" ? {} : { fallback: property["default"] }),
      ...(required.has(field[0] as string) ? { required: true } : {}),
      ...(field[4] === undefined || field[4] === "" ? {} : { patch: field[4], mergeKey: field[5] }),
    };
    field.splice(4, 2, ...(Object.keys(more).length === 0 ? [] : [more]));
  }
  if (schema?.["x-kubernetes-map-type"] === "atomic") fields.push(["", 0, "", "a"]);
}

function write(name: string, value: unknown): void {
  const text = Buffer.from(JSON.stringify(value));
  const parameters = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: text.length };
  const packed = brotliCompressSync(text, { params: parameters }).toString("base64");
  const path = join(root, `packages/simulator/src/restApi/gen/${name}.ts`);
  writeFileSync(
    path,
    `// Generated by \`npm run generate:kubernetes\` from Kubernetes' own sources (Apache License 2.0). JSON, compressed by brotli.\n` +
      `/** What \`tools/generateKubernetesApi.ts\` writes as \`${name}\`. */\nexport const ${name}Data =\n  "${packed}";\n`,
  );
  console.log(`${path}: ${text.length} bytes, ${packed.length} packed`);
}

const USAGE = "usage: npm run generate:kubernetes -- KUBECONFIG, of a running API server of the version that tests/real pins\n";
const [given] = process.argv.slice(2);
if (given === "--help" || given === "-h") process.stdout.write(USAGE);
else main();
