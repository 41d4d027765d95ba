import type { ChartValues } from "../charts/renderChart.ts";

/** Which clusters a command works on, so that others can be given the same. */
export interface GivenPlaces {
  readonly kubeconfig: string | undefined;
  readonly remoteContext: string | undefined;
  readonly remoteNamespace: string;
  readonly mgmtKubeconfig: string | undefined;
  readonly mgmtContext: string | undefined;
  readonly mgmtNamespace: string;
}

/** Commands to be pasted into a shell, for the same clusters. */
export interface Hints {
  /** kubectl in the cluster that is registered, in the namespace of the agent. */
  remote(...args: readonly string[]): string;
  /** kubectl in the management cluster, in the namespace of the management plane. */
  management(...args: readonly string[]): string;
  /** meshctl with the same options. */
  meshctl(...args: readonly string[]): string;
}

/**
 * Hints of a command that works on two clusters. Options that the user did not pass, and in commands of meshctl default namespaces, are
 * left out; words are quoted for a POSIX shell.
 */
export function hintsFor({ kubeconfig, remoteContext, remoteNamespace, mgmtKubeconfig = kubeconfig, ...places }: GivenPlaces): Hints {
  const { mgmtContext, mgmtNamespace } = places;
  const kubectl = (file: string | undefined, context: string | undefined, namespace: string) => (args: readonly string[]) =>
    line("kubectl", flag("--kubeconfig", file), flag("--context", context), ["-n", namespace], args);
  const remote = kubectl(kubeconfig, remoteContext, remoteNamespace);
  const management = kubectl(mgmtKubeconfig, mgmtContext, mgmtNamespace);
  return {
    remote: (...args) => remote(args),
    management: (...args) => management(args),
    meshctl: (...args) =>
      line(
        "meshctl",
        args,
        flag("--kubeconfig", kubeconfig),
        flag("--remote-context", remoteContext),
        remoteNamespace === DEFAULT_NAMESPACE ? [] : ["--remote-namespace", remoteNamespace],
        mgmtKubeconfig === kubeconfig ? [] : flag("--mgmt-kubeconfig", mgmtKubeconfig),
        flag("--mgmt-context", mgmtContext),
        mgmtNamespace === DEFAULT_NAMESPACE ? [] : ["--mgmt-namespace", mgmtNamespace],
      ),
  };
}

/** Commands to be pasted into a shell, for a command that works on the management cluster alone. */
export interface ManagementHints {
  /** kubectl in the namespace of the management plane. */
  kubectl(...args: readonly string[]): string;
  /** A command of meshctl that works on the management cluster alone. */
  meshctl(...args: readonly string[]): string;
  /** One that works on two clusters, which calls this one by other options. */
  acrossClusters(...args: readonly string[]): string;
}

/**
 * Hints of a command that works on the management cluster alone; what the user did not pass is left out, and in commands of meshctl the
 * default namespace.
 */
export function hintsIn({
  kubeconfig,
  context,
  namespace,
}: {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace: string;
}): ManagementHints {
  const place = [...flag("--kubeconfig", kubeconfig), ...flag("--context", context)];
  const within = namespace === DEFAULT_NAMESPACE ? [] : ["--namespace", namespace];
  const management = [...flag("--mgmt-kubeconfig", kubeconfig), ...flag("--mgmt-context", context)];
  const managementNamespace = namespace === DEFAULT_NAMESPACE ? [] : ["--mgmt-namespace", namespace];
  return {
    kubectl: (...args) => line("kubectl", place, ["-n", namespace], args),
    meshctl: (...args) => line("meshctl", args, place, within),
    acrossClusters: (...args) => line("meshctl", args, management, managementNamespace),
  };
}

/** What installs the management plane without meshctl, with values of a user. */
export function helmCommands(
  {
    kubeconfig,
    context,
    namespace,
  }: {
    readonly kubeconfig?: string;
    readonly context?: string;
    readonly namespace: string;
  },
  values: ChartValues = { files: [], sets: [] },
): readonly string[] {
  const place = [...flag("--kubeconfig", kubeconfig), ...flag("--kube-context", context), "--namespace", namespace];
  const command = (chart: string, ...more: readonly string[]): string =>
    line("helm", ["upgrade", "--install", chart, `deploy/helm/${chart}`], place, more);
  const given = [...values.files.flatMap((file) => ["--values", file]), ...values.sets.flatMap((set) => ["--set", set])];
  return [command("gloo-mesh-crds", "--create-namespace"), command("gloo-mesh-mgmt-server", ...given)];
}

function flag(name: string, value: string | undefined): readonly string[] {
  return value === undefined ? [] : [name, value];
}

function line(program: string, ...parts: readonly (readonly string[])[]): string {
  return [program, ...parts.flat().map(quoted)].join(" ");
}

/** As a POSIX shell takes it for one word. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

const DEFAULT_NAMESPACE = "gloo-mesh";
