import { Command, Option } from "commander";
import type { ExitCode, Io } from "../io.ts";
import type { Severity } from "../offline/findings.ts";
import { failOnOption } from "./validate.ts";

/** What `meshctl translate` was asked for. */
export interface TranslateOptions {
  /** Files, folders, or `-` for standard input. */
  readonly file: readonly string[];
  readonly stage: "discovery" | "networking" | "all";
  readonly status?: true;
  readonly output: "yaml" | "json";
  readonly namespace: string;
  readonly agentCluster?: string;
  readonly disallowIntersectingConfig?: true;
  readonly failOn: Severity;
  /** Only what this cluster gets. */
  readonly cluster?: string;
  /** A folder for one file per cluster, instead of standard output. */
  readonly outDir?: string;
}

/** `meshctl translate`: files in, files out, no cluster needed. */
export function translateCommand(io: Io, finish: (code: ExitCode) => void): Command {
  return new Command("translate")
    .description("Translate resources in files into what Isthmus would write to each cluster. Needs no cluster.")
    .requiredOption("-f, --file <path...>", "files or folders with YAML or JSON; - reads standard input")
    .addOption(
      new Option(
        "--stage <stage>",
        "discovery: what runs there; networking: what follows from discovered objects in the input; all: both, one after the other",
      )
        .choices(["discovery", "networking", "all"])
        .default("all"),
    )
    .option("--status", "also print the status of every resource that gets one")
    .addOption(new Option("-o, --output <format>", "output format").choices(["yaml", "json"]).default("yaml"))
    .option("--cluster <name>", "print only what this cluster gets, without metadata.clusterName, as kubectl takes it")
    .option(
      "--out-dir <folder>",
      "write one file per cluster, CLUSTER.yaml, as kubectl and istioctl take them; management.yaml is the management cluster's",
    )
    .addOption(failOnOption())
    .option("-n, --namespace <name>", "namespace of the management plane", "gloo-mesh")
    .option("--agent-cluster <name>", "discover as the agent of this cluster does")
    .option("--disallow-intersecting-config", "refuse what would meet a user's own Istio objects on one host")
    .allowExcessArguments(false)
    .addHelpText("after", HELP)
    .action(async (options: TranslateOptions) => {
      // Loaded when it is needed: the translators and their schemas are most of the program.
      const { translateFiles } = await import("../offline/translateFiles.ts");
      finish(await translateFiles(options, io));
    });
}

const HELP = `
Input: any mix of Kubernetes, Istio and Gloo Mesh resources, multi-document YAML or JSON, Lists included. metadata.clusterName
says which cluster an object is from; without it, it is from the management cluster. Meshes, Workloads and Destinations that
are given are used; others are derived from Kubernetes objects. Statuses that --status printed may be among them: they are computed anew.

Examples:
  # A dump of one cluster that says of each object where it is from
  kubectl get -A -o json nodes,namespaces,deployments,replicasets,daemonsets,statefulsets,pods,services,endpointslices,configmaps |
    jq '.items[].metadata.clusterName = "east"' > east.json

  # Everything that follows from the dumps of two clusters and a folder of policies
  meshctl translate -f east.json west.json policies/

  # What the discovered objects and policies of a running management cluster lead to, as one JSON List
  kubectl get -A -o yaml meshes,workloads,destinations,virtualmeshes,trafficpolicies | meshctl translate -f - --stage networking -o json

  # What would change in the cluster east?
  meshctl translate -f east.json west.json policies/ --cluster east | kubectl diff --context east -f -

  # What does Istio say of it?
  meshctl translate -f east.json west.json policies/ --out-dir generated && istioctl analyze --use-kube=false generated/east.yaml

  # Is every policy accepted? Findings are on standard error, the exit code says it too
  meshctl translate -f east.json -f west.json -f policies/ --status`;
