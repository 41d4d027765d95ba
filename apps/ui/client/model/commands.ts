import type { ConsoleCertificate } from "@isthmus/console/wire";
import { groupOf, type Resource } from "@isthmus/core";

/** Words as a line for a shell: what is more than a plain word is quoted. */
function shellLine(...words: readonly string[]): string {
  return words.map((word) => (isPlain(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}

/** The command that prints an object. Kubeconfig contexts are taken to be named as the clusters. */
export function kubectlGet({ apiVersion, kind, metadata }: Resource): string {
  const { name, namespace = "", clusterName = "" } = metadata;
  const group = groupOf(apiVersion);
  return shellLine(
    "kubectl",
    ...(clusterName === "" ? [] : ["--context", clusterName]),
    ...(namespace === "" ? [] : ["--namespace", namespace]),
    "get",
    group === "" ? kind.toLowerCase() : `${kind.toLowerCase()}.${group}`,
    name,
    "--output",
    "yaml",
  );
}

/** The command that sets members of the Settings in the namespace of the management plane. */
export function settingsPatch(namespace: string, spec: object): string {
  const type = "settings.settings.mesh.gloo.solo.io";
  return shellLine("kubectl", "--namespace", namespace, "patch", type, "settings", "--type", "merge", "--patch", JSON.stringify({ spec }));
}

// Kinds that `meshctl describe` knows.
const DESCRIBED: ReadonlySet<string> = new Set([
  "Mesh",
  "Workload",
  "Destination",
  "VirtualMesh",
  "VirtualDestination",
  "TrafficPolicy",
  "AccessPolicy",
]);

/** The command of meshctl that says more of an object; undefined: there is none for its kind. */
export function meshctlFor({ kind, metadata }: Resource): string | undefined {
  const { name, namespace = "" } = metadata;
  if (kind === "KubernetesCluster") return shellLine("meshctl", "cluster", "describe", name);
  return DESCRIBED.has(kind) ? shellLine("meshctl", "describe", kind.toLowerCase(), `${namespace}/${name}`) : undefined;
}

/** The command that says why a cluster is not connected, or lags. */
export function diagnoseCommand(cluster: string): string {
  return shellLine("meshctl", "cluster", "diagnose", cluster);
}

/** The command that has the CA of a mesh issued again; undefined for a certificate of another use. */
export function rotateCommand({ kind, name }: Pick<ConsoleCertificate, "kind" | "name">): string | undefined {
  if (kind !== "meshIntermediate") return undefined;
  // A server names the namespace of its Secret too, which is not part of the mesh's name.
  return shellLine("meshctl", "cert", "rotate", `meshIntermediate/${name.slice(name.lastIndexOf("/") + 1)}`);
}

/** The command that explains a code of insights. */
export function explainCommand(code: string): string {
  return shellLine("meshctl", "insights", "explain", code);
}

/** The commands that save the fleet of a running server, and show what they have saved: the first one runs beside the second. */
export function bundleCommands(namespace: string): readonly string[] {
  return [
    shellLine("kubectl", "--namespace", namespace, "port-forward", "deployment/gloo-mesh-mgmt-server", "9091"),
    "curl --fail --output fleet.json http://127.0.0.1:9091/snapshots/input",
    "meshctl snapshot serve fleet.json",
  ];
}

/** The commands that print what servers write, and the agents of some clusters. */
export function logCommands(clusters: readonly string[]): readonly string[] {
  return [shellLine("meshctl", "logs", "--follow"), ...clusters.map((name) => shellLine("meshctl", "logs", "--cluster", name, "--follow"))];
}

function isPlain(word: string): boolean {
  return word !== "" && [...word].every((char) => /[\w.,:/@=-]/.test(char));
}
